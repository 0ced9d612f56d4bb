"""Edit a page by replacing an old text with a new text, or by appending a text."""

from dataclasses import dataclass, replace
from typing import Any

from content.edits import edits
from content.edits.edits import Edited
from content.edits.similarity import Nearest
from content.limits import BODY, EDIT_SUMMARY
from content.markdown.sections import render
from db.database import Database
from db.scope import Scope
from lib.threads import offload

from .. import validation
from ..errors import BadInput, CairnError
from ..model import outline
from ..model.lookup import PageAddress, locate
from ..model.outline import Outline
from ..model.pages import Page, Saved
from ..proposals.operations import proposable
from ..transactions.transaction import check_version, writing_page
from ..transactions.writer import record
from ..validation import UNSET
from .insert import PageText, read_body, read_sections
from .sections import check_section_slug
from .update import save

UNCHANGED = "The text was found, and it says already what it would say after the edit: nothing was written."


class EditFailed(CairnError):
    """The old text was not found. `passes` names the ways of matching it; `nearest` is the most similar text."""

    code = "EDIT_FAILED"

    def __init__(self, error: edits.TextEditFailed) -> None:
        super().__init__(str(error))
        self.passes: tuple[str, ...] = error.passes
        self.nearest: Nearest | None = error.nearest

    @property
    def extensions(self) -> dict[str, Any]:
        nearest = self.nearest and self.nearest._asdict()
        return {"code": self.code, "passesTried": list(self.passes), "nearest": nearest}


class EditAmbiguous(CairnError):
    """The old text occurs `count` times. `lines` are the line numbers of the first twenty occurrences."""

    code = "EDIT_AMBIGUOUS"

    def __init__(self, error: edits.TextEditAmbiguous) -> None:
        super().__init__(str(error))
        self.count, self.lines, self.matched_by = error.count, error.lines, error.matched_by

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "count": self.count, "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """The result of an edit. `note` says why nothing was written, if nothing was."""

    saved: Saved
    edited: Edited | None = None
    note: str | None = None


@proposable
async def edit_page(
    database: Database,
    scope: Scope,
    address: PageAddress,
    *,
    old_text: str,
    new_text: str,
    replace_all: bool = False,
    section_slug: str | None = None,
    expected_version: int | None = None,
    summary: str | None = None,
) -> SavedEdit:
    """Replace the old text with the new text, in the whole body or in one section.

    Raises EditFailed if the old text is not found, and EditAmbiguous if it occurs several times without `replace_all`.
    """
    old_text = validation.text(old_text, "oldText", BODY.maximum)
    new_text = validation.text(new_text, "newText", BODY.maximum)
    summary = validation.optional(summary, "summary", EDIT_SUMMARY.maximum)
    section_slug = section_slug and check_section_slug(section_slug)
    page_id = await locate(database, scope, address)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        before = text_of(page, section_slug)
        edited = await edit_text(before, old_text, new_text, replace_all)
        after, text = await replace_text(page, section_slug, edited.text, "newText")
        saved = await save(writer, page, after, text=text, edit_summary=summary)
        if saved.changed:
            await record(writer, "page.edited", page.id, version=saved.version, matchedBy=edited.matched_by)
        return SavedEdit(saved, edited, None if saved.changed else UNCHANGED)


@proposable
async def append_to_page(
    database: Database,
    scope: Scope,
    address: PageAddress,
    *,
    text: str,
    section_slug: str | None = None,
    as_paragraph: bool = True,
    expected_version: int | None = None,
    summary: str | None = None,
) -> SavedEdit:
    """Append a text to the page or to one section: as a new paragraph, or on the next line.

    A section that does not exist yet is added at the end of the page.
    """
    if not validation.text(text, "text", BODY.maximum).strip():
        raise BadInput("There is nothing to append in this.", "text")
    summary = validation.optional(summary, "summary", EDIT_SUMMARY.maximum)
    section_slug = section_slug and check_section_slug(section_slug)
    page_id = await locate(database, scope, address)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        is_new = section_slug is not None and all(section.slug != section_slug for section in page.sections)
        before = "" if is_new else text_of(page, section_slug)
        whole = append_text(before, text, as_paragraph)
        after, read = await replace_text(page, section_slug, whole, "text")
        saved = await save(writer, page, after, text=read, edit_summary=summary)
        if saved.changed:
            await record(writer, "page.appended", page.id, version=saved.version)
        return SavedEdit(saved)


async def edit_text(text: str, old: str, new: str, replace_all: bool) -> Edited:
    try:
        return await offload(len(text) + len(old), edits.edit, text, old, new, replace_all=replace_all)
    except edits.NothingToFind as error:
        raise BadInput(str(error), "oldText") from None
    except edits.TextEditFailed as error:
        raise EditFailed(error) from None
    except edits.TextEditAmbiguous as error:
        raise EditAmbiguous(error) from None


def text_of(page: Page, section_slug: str | None) -> str:
    """Return the text to edit: the whole body, or the body of one section. Raises NotFound for an unknown section."""
    if section_slug is None:
        return render(page.sections)
    return page.sections[outline.section_index(page.sections, section_slug)].body


def append_text(before: str, text: str, as_paragraph: bool) -> str:
    """Return `before` followed by the text, separated by the kind of line ends that `before` uses."""
    end = "\r\n" if "\r\n" in before else "\n"
    separator = end * (1 + as_paragraph) if before else ""
    return before + separator + text.lstrip("\r\n")


async def replace_text(page: Page, section_slug: str | None, text: str, field: str) -> tuple[Page, PageText | None]:
    """Return the page with the text as its body or as the body of one section. A BadInput names the given field."""
    try:
        if section_slug is None:
            read = await read_body(text)
            return replace(page, sections=outline.keep_identities(read.sections, page.sections)), read
        sections = await replace_section_text(page, section_slug, text)
    except BadInput as error:
        raise BadInput(error.message, "sectionSlug" if error.field == "sectionSlug" else field) from None
    after = replace(page, sections=sections)
    return after, await read_sections(sections) if sections != page.sections else None


async def replace_section_text(page: Page, section_slug: str, text: str) -> Outline:
    size = outline.size(page.sections) + len(text)
    return await offload(size, outline.patch_section, page.type, page.sections, section_slug, text, UNSET)
