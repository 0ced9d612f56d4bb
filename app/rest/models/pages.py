"""Pages as they are sent, shown and listed."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import FailFast, Field

from content.limits import ALIAS, ALIASES_AT_ONCE, RELATED, SLUG, SUMMARY, TAG, TAGS, TITLE
from schema.enums import WikiPageStatus, WikiPageType

from .given import EditSummary, ExpectedVersion, Given, Text
from .links import Link
from .shown import Listed, Shown

PageType = Annotated[WikiPageType, Field(strict=False)]
Tags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=TAG.most)]], FailFast(), Field(max_length=TAGS.most)
]
Related = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=SLUG.most + 20)]],
    FailFast(),
    Field(max_length=RELATED.most, description="Slugs of pages of this wiki, or TYPE/SLUG where types share one."),
]


class NewPage(Given):
    """A page to be made."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE.most, examples=["Harbour Coffee"])]
    slug: Annotated[
        str | None, Field(min_length=1, max_length=SLUG.most, description="Made from the title if left out.")
    ] = None
    type: PageType
    content: Annotated[Text, Field(description="Markdown; `## ` headings make sections.")]
    related: Related = Field([])
    tags: Tags = Field([])
    edit_summary: EditSummary = None


class PageChanges(Given):
    """Changes to a page. What is left out stays as it is; a list is given whole, and an empty one takes all away."""

    title: Annotated[
        str,
        Field(
            default_factory=str,
            min_length=1,
            max_length=TITLE.most,
            description="The old one stays an alias. Links that say it stay as they are: `/rename` rewrites them.",
        ),
    ]
    summary: Annotated[str | None, Field(max_length=SUMMARY.most, description="One line; null for none.")] = None
    tags: Tags = Field([])
    aliases: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ALIAS.most)]],
        FailFast(),
        Field(max_length=ALIASES_AT_ONCE.most, description="All names besides the title, which always names the page."),
    ] = Field([])
    related: Related = Field([])
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class PageName(Shown):
    """A page in a list of names."""

    slug: str
    title: str
    type: WikiPageType


class PageItem(Shown):
    """A page in a list."""

    id: UUID
    slug: str
    title: str
    type: WikiPageType
    summary: str | None
    version: int
    status: WikiPageStatus
    tags: list[str]
    created_at: datetime
    updated_at: datetime


class Page(PageItem):
    """A page, with its first hundred links. `redirected_from`: the former slug by which it was asked for.

    `merged_into`: the page that it became a part of. `pages_to_rewrite`: texts that may call it by a name it had, and
    are yet to be rewritten; 0 once a rename is done.
    """

    content: str
    aliases: list[str]
    related: list[str]
    links: list[Link]
    pages_to_rewrite: int
    created_by: str
    updated_by: str
    redirected_from: str | None
    merged_into: PageName | None


class Pages(Listed):
    items: list[PageItem]


class Rebuild(Shown):
    """The job that builds a page again."""

    job_id: UUID
