"""Edits told as old words and new ones."""

from typing import Annotated

from pydantic import Field

from content.limits import SLUG

from .given import EditSummary, ExpectedVersion, Given, Text


class Edit(Given):
    """The new text comes where the old text stands. Whitespace may differ; of two lines or more some words as well."""

    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text
    replace_all: Annotated[bool, Field(description="Wherever it stands, not in one place alone.")] = False
    section: Annotated[
        str | None, Field(min_length=1, max_length=SLUG.most, description="A section's slug; else the whole text.")
    ] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None
