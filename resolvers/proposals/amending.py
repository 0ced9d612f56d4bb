"""Amend proposed pages by the values of a reviewer, and merge their texts with what others have written since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from content.edits.merging import merge_tags, merge_texts
from content.limits import BODY
from content.markdown.sections import parse
from db.connection import Connection, Row
from db.scope import Scope
from lib.threads import offload

from .. import validation
from ..errors import Conflict
from ..knowledge.knowledge import draft_of
from ..model import outline
from ..model.drafts import PageDraft
from ..model.pages import Page, find_page
from ..pages.revision_store import State, find_states
from ..pages.upsert import find_page_for
from ..transactions.writer import Writer
from ..validation import UNSET, Given
from .gate import PROPOSALS


@dataclass(frozen=True, slots=True)
class Amendment:
    """The values of a reviewer that replace the proposed ones."""

    title: Given[str] = UNSET
    summary: Given[str | None] = UNSET
    body: Given[str] = UNSET
    version: int | None = None
    """The version of the page that the body is based on, if it is not the base version of the proposal."""

    def __bool__(self) -> bool:
        return any(value is not UNSET for value in (self.title, self.summary, self.body))


def amended_values(amendment: Amendment) -> dict[str, Any]:
    """Return the validated values of an amendment. Raises BadInput."""
    given: dict[str, Any] = {}
    if amendment.title is not UNSET:
        given["title"] = validation.title(amendment.title)
    if amendment.summary is not UNSET:
        given["summary"] = validation.summary(amendment.summary)
    if amendment.body is not UNSET:
        given["body"] = validation.text(amendment.body, "bodyMd", BODY.maximum)
    return given


def amend_draft(draft: PageDraft, given: dict[str, Any]) -> PageDraft:
    """Return a draft with the amended values. A new body replaces all sections, which keep their slugs.

    A section keeps its slug, and so its citations, even if a reviewer changes its heading and its text.
    """
    if "body" not in given:
        return replace(draft, **given)
    proposed = outline.rename_slugs(tuple(parse(draft.body or "")), draft.section_slugs) or ()
    amended = outline.keep_identities(tuple(parse(given["body"])), proposed, in_order=True) if proposed else ()
    return replace(draft, **given, sections=None, section_slugs=[section.slug for section in amended])


def merged_draft(draft: PageDraft, given: dict[str, Any]) -> PageDraft:
    """Return an amended draft for a page that is there: its sections keep the slugs that they have on the page."""
    return replace(amend_draft(draft, given), section_slugs=())


def draft_in(arguments: Mapping[str, Any]) -> PageDraft:
    """Return the draft of a page in the arguments of an operation of UPSERTS."""
    draft: PageDraft = arguments["draft"] if "draft" in arguments else draft_of(arguments["entry"])
    return draft


def with_content(arguments: Mapping[str, Any], content: str) -> dict[str, Any]:
    """Return the arguments of `write_knowledge` with another content."""
    return {**arguments, "entry": replace(arguments["entry"], content=content)}


async def with_present_fields(connection: Connection, scope: Scope, found: Row, draft: PageDraft) -> PageDraft:
    """Return the draft of a page that has changed, without the fields that only repeat those of its base version."""
    page, base = await find_page_and_base(connection, scope, found)
    given = changed_fields(base, page, {name: getattr(draft, name) for name in REPEATED})
    more: dict[str, Any] = {name: given.get(name) for name in ("summary", "tags", "metadata")}
    return replace(draft, slug=page.slug, title=given.get("title", page.title), **more)


async def without_repeated(
    connection: Connection, scope: Scope, found: Row, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `update_page` without the fields that only repeat those of the base version."""
    page, base = await find_page_and_base(connection, scope, found)
    return changed_fields(base, page, arguments)


async def find_page_and_base(connection: Connection, scope: Scope, found: Row) -> tuple[Page, State]:
    """Return the page of a proposal as it is now, and its base version."""
    page = await find_page(Writer(connection, scope), found["page_id"])
    (base,) = await find_states(connection, scope, found["page_id"], (found["base_version"],))
    assert page is not None, "the page has a version"
    return page, base


REPEATED = ("title", "summary", "tags", "metadata")
"""The fields that a write may repeat although it does not mean to change them."""


def changed_fields(base: State, page: Page, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values without those that the base version has too. Tags are merged with those of the page."""
    found = {name: value for name, value in given.items() if name not in REPEATED or is_changed(base, name, value)}
    if (tags := found.get("tags")) is not None:
        found["tags"] = merge_tags(base.tags, tags, page.tags)
    return found


def is_changed(base: State, name: str, value: Any) -> bool:
    return bool(comparable(value) != comparable(getattr(base, name)))


def comparable(value: Any) -> Any:
    """Return a value for comparison: without empty values, and lists and tuples alike."""
    if isinstance(value, Mapping):
        value = {name: item for name, item in value.items() if item is not None}
    return (list(value) if isinstance(value, tuple) else value) or None


async def find_page_of_others(connection: Connection, scope: Scope, found: Row, draft: PageDraft) -> Page | None:
    """Return the page that a proposal was to create, if others, or a later proposal, have written it meanwhile."""
    writer = Writer(connection, scope)
    page = await find_page_for(writer, draft)
    proposal = {name: found[name] for name in ("id", "author_kind", "author_id")}
    is_known = page is None or not await writer.value(PROPOSALS["is_written_otherwise"], page_id=page.id, **proposal)
    return None if is_known else page


async def merge_body(
    connection: Connection, scope: Scope, found: Row, proposed: str | None, base_version: int | None
) -> str:
    """Return the current text of the page merged with the proposed text; without a base version both are new.

    Raises Conflict if both changed the same sections.
    """
    versions = sorted({base_version or found["version"], found["version"]})
    states = await find_states(connection, scope, found["page_id"], versions)
    base, current = states[0].body if base_version else "", states[-1].body
    if proposed is None:
        return current
    merged = await offload(len(base) + len(current) + len(proposed), merge_texts, base, current, proposed)
    if merged.conflicts:
        named = ", ".join(f'"{slug}"' for slug in merged.conflicts[:10])
        raise Conflict(
            f"Both this proposal and version {found['version']} of the page change {named}. Accept it with an amended "
            "text and the version that this was made of, or decline it.",
            found["version"],
            found["page_id"],
        )
    return merged.body
