"""Superseded claims: record that a claim of a page no longer holds, with its sources, and withdraw such a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from content.claims import claims
from content.edits.edits import Edited
from content.limits import CLAIM, EDIT_SUMMARY, REF
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from db.tables import SOURCE_KINDS
from lib.threads import offload

from ... import validation
from ...errors import BadInput
from ...model import outline
from ...model.lookup import PageAddress, locate
from ...model.pages import Page, Saved, find_page
from ...proposals.operations import proposable
from ...sources.grounding import ground
from ...sources.sources import find_section
from ...transactions.transaction import check_version, writing_page, writing_row
from ...transactions.writer import Writer, record
from ..edits import EditFailed, append_text, edit_text, replace_text, text_of
from ..sections import check_section_slug
from ..update import save
from .trajectory import keep_trajectory

CLAIMS, CONTRADICTIONS = statements("review/claims"), statements("review/contradictions")
SOURCES = statements("sources/sources")
NO_CLAIM = "There is no such superseded claim, or none that you may see."


class Mode(StrEnum):
    """The ways of changing the text when a claim is superseded."""

    REPLACE = "replace"
    MERGE = "merge"
    APPEND = "append"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """The newest version of a source of the page's wiki, by its kind and ref."""

    kind: str
    ref: str


@dataclass(frozen=True, slots=True)
class SupersededClaim:
    """The result of superseding a claim, or of withdrawing a superseded claim.

    `saved.changed` is false if nothing was written, because the claim was superseded or withdrawn before. `edited` says
    how the fact was found in the text, if the text was searched for it.
    """

    claim_id: UUID
    saved: Saved
    edited: Edited | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """A fact that no longer holds and its replacement. The input is validated, but not compared with the wiki."""

    fact: str
    replacement: str
    section_slug: str | None
    stated_by: SourceRef | None
    overridden_by: SourceRef | None
    superseded_on: datetime | None
    mode: Mode

    @property
    def digest(self) -> bytes:
        by = self.overridden_by
        return claims.digest(self.fact, by.kind if by else "", by.ref if by else "")


@proposable
async def supersede_claim(
    database: Database,
    scope: Scope,
    address: PageAddress,
    *,
    fact: str,
    replacement: str,
    section_slug: str | None = None,
    stated_by: SourceRef | None = None,
    overridden_by: SourceRef | None = None,
    superseded_on: datetime | None = None,
    mode: Mode = Mode.REPLACE,
    expected_version: int | None = None,
    summary: str | None = None,
) -> SupersededClaim:
    """Record that a claim of a page no longer holds, and update the text of the page, in one transaction.

    Modes that change the fact in the text raise EditFailed and EditAmbiguous like an edit.
    """
    summary = validation.optional(summary, "summary", EDIT_SUMMARY.maximum)
    correction = Correction(
        claim_text(fact, "fact"),
        claim_text(replacement, "replacement"),
        section_slug and check_section_slug(section_slug),
        check_source(stated_by, "statedBy"),
        check_source(overridden_by, "overriddenBy"),
        None if superseded_on is None else validation.timestamp(superseded_on, "supersededOn"),
        mode,
    )
    if claims.has_claim(correction.fact, correction.replacement) and claims.has_claim(
        correction.replacement, correction.fact
    ):
        raise BadInput("The replacement equals the fact. Give the claim that holds now.", "replacement")
    page_id = await locate(database, scope, address)
    async with writing_page(database, scope, page_id) as (writer, page):
        known = await writer.one(CLAIMS["find_claim"], page_id=page.id, digest=correction.digest)
        if known is not None and known["withdrawn_at"] is None:
            return SupersededClaim(known["id"], Saved(page.id, page.version, changed=False))
        check_version(page, expected_version)
        return await supersede(writer, page, correction, summary, known["id"] if known else None)


async def supersede(
    writer: Writer, page: Page, correction: Correction, summary: str | None, known_id: UUID | None
) -> SupersededClaim:
    given = {"statedBy.ref": correction.stated_by, "overriddenBy.ref": correction.overridden_by}
    sources = await find_sources(writer, given)
    after, section_slug, edited = await correct_page(page, correction)
    done = await record_claim(writer, page, after, correction, sources, section_slug, summary, known_id)
    return replace(done, edited=edited)


async def record_claim(
    writer: Writer,
    page: Page,
    after: Page,
    correction: Correction,
    sources: Sequence[Row | None],
    section_slug: str | None,
    summary: str | None,
    known_id: UUID | None,
) -> SupersededClaim:
    """Save the corrected page `after`, and the superseded claim with the sources that stated and overrode it."""
    stated, overriding = sources
    saved = await save(writer, page, after, edit_summary=summary or f"Superseded: {claims.quote_line(correction.fact)}")
    section = next((section for section in after.sections if section.slug == section_slug), None)
    claim_id = known_id or new_id()
    claim: dict[str, Any] = {
        "id": claim_id,
        "page_id": page.id,
        "section_slug": section_slug,
        "heading": section and section.heading,
        "fact": correction.fact,
        "replacement": correction.replacement,
        "stated_by_id": stated and stated["id"],
        "overridden_by_id": overriding and overriding["id"],
        "superseded_on": correction.superseded_on or (overriding["captured_at"] if overriding else writer.now),
        "digest": correction.digest,
    }
    if known_id is None:
        await write_claims(writer, [claim])
    else:
        actor = writer.scope.actor
        await writer.run(CLAIMS["restore_claim"], **claim, author_kind=actor.kind.value, author_id=actor.id)
    if overriding and section and saved.changed:
        await cite(writer, page.id, section.slug, overriding)
        await ground(writer, [page.id], recheck=True)
    if not saved.changed:
        writer.touched.add(page.id)
    await keep_trajectory(writer, after)
    await record(writer, "claim.superseded", page.id, version=saved.version, claimId=claim_id)
    lost = {"page_id": page.id, "fact": correction.fact, "replacement": correction.replacement}
    await close_contradictions(writer, [lost], saved.version)
    return SupersededClaim(claim_id, Saved(page.id, saved.version))


async def correct_page(page: Page, correction: Correction) -> tuple[Page, str | None, Edited | None]:
    """Return the corrected page, the slug of the claim's section, and how the fact was found in the text."""
    slug, mode = correction.section_slug, correction.mode
    if mode is Mode.NONE:
        if slug:
            outline.section_index(page.sections, slug)
        return page, slug or only_section_with(page, correction.fact), None
    if mode is Mode.APPEND:
        slug = slug or (page.sections[-1].slug if page.sections else outline.LEAD)
        before = text_of(page, slug) if page.sections else ""
        after, _ = await replace_text(page, slug, append_text(before, correction.replacement, True), "replacement")
        return after, slug, None
    edited = await correct_text(text_of(page, slug), correction)
    if slug is None and (slug := only_section_with(page, correction.fact)):
        edited = await correct_text(text_of(page, slug), correction)
    after, _ = await replace_text(page, slug, edited.text, "replacement")
    return after, slug or changed_section(page, after), edited


async def correct_text(text: str, correction: Correction) -> Edited:
    """Return the text with the replacement in place of the fact.

    In the mode MERGE, the fact is only removed if the text contains the replacement already. A quote that contains the
    fact becomes plain text, because its source did not say the replacement.
    """
    rest = text.replace(correction.fact, "", 1)
    has_replacement = correction.mode is Mode.MERGE and claims.has_claim(rest, correction.replacement)
    replacement = "" if has_replacement else correction.replacement
    edited = await edit_text(text, correction.fact, replacement, False)
    verbatim = {quote.text for quote in claims.statements(edited.text)}
    changed = [quote for quote in claims.statements(text) if quote.text not in verbatim]
    for quote in reversed(changed):
        try:
            instead = (await edit_text(claims.escaped(quote.text), correction.fact, replacement, False)).text
        except EditFailed:  # the fact extends over several quotes: the replacement takes the place of the first one
            instead = replacement if quote is changed[0] else ""
        text = claims.unquoted(text, quote, instead)
    return edited._replace(text=text) if changed else edited


def only_section_with(page: Page, fact: str) -> str | None:
    """Return the slug of the section that contains the fact, or None if there is not exactly one."""
    found = [section.slug for section in page.sections if claims.has_claim(section.body, fact)]
    return found[0] if len(found) == 1 else None


def changed_section(page: Page, after: Page) -> str | None:
    """Return the slug of the first section whose text changed."""
    before = {section.slug: section.body for section in page.sections}
    return next((section.slug for section in after.sections if before.get(section.slug) != section.body), None)


async def write_claims(writer: Writer, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write superseded claims, given as mappings of column names to values. Return how many are new."""
    columns = {
        "ids": "id", "page_ids": "page_id", "section_slugs": "section_slug", "headings": "heading", "facts": "fact",
        "replacements": "replacement", "stated_by_ids": "stated_by_id", "overridden_by_ids": "overridden_by_id",
        "superseded_on": "superseded_on", "digests": "digest",
    }  # fmt: skip
    actor = writer.scope.actor
    return await writer.run(
        CLAIMS["write_claims"],
        **{name: [row[column] for row in rows] for name, column in columns.items()},
        author_kind=actor.kind.value,
        author_id=actor.id,
    )


async def close_contradictions(writer: Writer, lost: Sequence[Mapping[str, Any]], version: int | None = None) -> None:
    """Resolve open contradictions with one of the superseded claims `lost` in favour of the other claim."""
    actor = writer.scope.actor
    closed = await writer.all(
        CONTRADICTIONS["close_superseded"],
        page_ids=[row["page_id"] for row in lost],
        facts=[row["fact"] for row in lost],
        replacements=[row["replacement"] for row in lost],
        resolver_kind=actor.kind.value,
        resolver_id=actor.id,
    )
    for row in closed:
        await record(
            writer, "contradiction.resolved", row["page_id"],
            version=version, contradictionId=row["id"], resolution=row["resolution"],
        )  # fmt: skip


async def find_sources(writer: Writer, given: Mapping[str, SourceRef | None]) -> list[Row | None]:
    """Return the rows of sources in the order of `given`, which has them by argument name; None stays None.

    Raises BadInput for a source that does not exist.
    """
    wanted = [source for source in given.values() if source]
    rows = []
    if wanted:
        rows = await writer.all(
            CLAIMS["find_sources"], kinds=[source.kind for source in wanted], refs=[source.ref for source in wanted]
        )
    known = {(row["kind"], row["ref"]): row for row in rows}
    for field, source in given.items():
        if source and (source.kind, source.ref) not in known:
            raise BadInput(f"This wiki has no {source.kind} with this ref. Retain the source first.", field)
    return [known[source.kind, source.ref] if source else None for source in given.values()]


async def cite(writer: Writer, page_id: UUID, section_slug: str, source: Row) -> None:
    """Cite the overriding source in the corrected section."""
    section_id = await find_section(writer, page_id, section_slug)
    nothing = dict.fromkeys(("line_start", "line_end", "summary"))
    given = {"id": new_id(), "page_id": page_id, "section_id": section_id, "source_id": source["id"]}
    await writer.run(SOURCES["cite"], **given, **nothing)
    await writer.run(SOURCES["advance_section"], section_id=section_id, captured_at=source["captured_at"])


@proposable
async def withdraw_claim(database: Database, scope: Scope, claim_id: UUID) -> SupersededClaim:
    """Withdraw a superseded claim: it is not shown any more, and the compiler does not record it again.

    The text of the page stays as it is.
    """
    async with writing_row(database, scope, CLAIMS["find_owner"], claim_id, NO_CLAIM) as writer:
        row = await writer.one(CLAIMS["find_page_of"], claim_id=claim_id)
        assert row is not None, "nobody else writes the wiki"
        saved = Saved(row["page_id"], row["version"], changed=row["withdrawn_at"] is None)
        if saved.changed:
            await writer.run(CLAIMS["withdraw_claim"], claim_id=claim_id)
            writer.touched.add(saved.page_id)
            if page := await find_page(writer, saved.page_id):
                await keep_trajectory(writer, page)
            await record(writer, "claim.withdrawn", saved.page_id, version=saved.version, claimId=claim_id)
        return SupersededClaim(claim_id, saved)


async def withdraw_undone(writer: Writer, page: Page, version: int) -> None:
    """Withdraw the superseded claims that the restoration of a version of the page has undone.

    They were recorded after that version, and the page does not say any more what replaced them.
    """
    rows = await writer.all(CLAIMS["find_recorded_since"], page_id=page.id, version=version)
    if not rows:
        return
    text = claims.unescaped(page.body)
    undone = await offload(
        len(rows) * len(text), lambda: [row for row in rows if not claims.has_claim(text, row["replacement"])]
    )
    if undone:
        await writer.each(CLAIMS["withdraw_claim"], [{"claim_id": row["id"]} for row in undone])
        for row in undone:
            await record(writer, "claim.withdrawn", page.id, claimId=row["id"])
        await keep_trajectory(writer, page)


def claim_text(value: str, field: str) -> str:
    """Return the text of a claim without surrounding white space. Raises BadInput if it is empty or too long."""
    claim = validation.text(value, field, CLAIM.maximum).strip()
    if not claim:
        raise BadInput("This may not be empty.", field)
    return claim


def check_source(source: SourceRef | None, field: str) -> SourceRef | None:
    if source is None:
        return None
    kind = validation.one_of(source.kind, SOURCE_KINDS, f"{field}.kind")
    return SourceRef(kind, validation.line(source.ref, f"{field}.ref", REF.maximum))
