"""Other names for pages, and pages that become part of others."""

from typing import Annotated

from pydantic import Field

from content.limits import SLUG, TITLE

from .given import VERSION_MAX, EditSummary, ExpectedVersion, Given


class NewName(Given):
    """A new title, a new slug, or both. The old ones lead to the page, and links that say them are rewritten."""

    title: Annotated[str | None, Field(min_length=1, max_length=TITLE.most)] = None
    slug: Annotated[str | None, Field(min_length=1, max_length=SLUG.most)] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class Merger(Given):
    """The page that stays, by its slug, and of this one's type."""

    into: Annotated[str, Field(min_length=1, max_length=SLUG.most)]
    expected_version: Annotated[
        int | None, Field(ge=1, le=VERSION_MAX, description="Of the page that stays. If-Match is of the one that goes.")
    ] = None
