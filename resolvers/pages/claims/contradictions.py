"""Contradictions: pairs of claims of a page that cannot both hold, recorded by callers or by the compiler.

Contradictions are never resolved silently: a caller decides, and the lost claim is superseded as in claims.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any
from uuid import UUID

from content.claims import claims
from content.limits import REASON
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from ... import validation
from ...errors import BadInput, NotFound
from ...model import outline
from ...model.lookup import PageAddress, locate
from ...model.pages import Page, Saved, find_page
from ...proposals.operations import proposable
from ...transactions.transaction import NO_PAGE, writing_page, writing_row
from ...transactions.writer import Writer, record
from ..edits import replace_text
from ..sections import check_section_slug
from .claims import (
    CLAIMS,
    Correction,
    Mode,
    SourceRef,
    check_source,
    claim_text,
    find_sources,
    only_section_with,
    record_claim,
)

CONTRADICTIONS = statements("review/contradictions")
NO_CONTRADICTION = "There is no such contradiction, or none that you may see."


class Resolution(StrEnum):
    """The possible resolutions of a contradiction."""

    KEEP_NEWER = "keep_newer"
    KEEP_OLDER = "keep_older"
    BOTH_HOLD = "both_hold"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim of a page: its text, the section and the source that state it, and its date."""

    claim: str
    section_slug: str | None = None
    source: SourceRef | None = None
    on: datetime | None = None


@dataclass(frozen=True, slots=True)
class SavedContradiction:
    """The result of a write: the contradiction, its page, and the claim that the decision superseded, if any."""

    id: UUID
    saved: Saved
    claim_id: UUID | None = None


def digest(claim: str, other: str) -> bytes:
    """Return the digest that identifies a contradiction of a page: of both claims, in either order."""
    both = sorted(" ".join(text.split()).casefold() for text in (claim, other))
    return sha256("\0".join(both).encode()).digest()


@proposable
async def record_contradiction(
    database: Database, scope: Scope, address: PageAddress, older: Claimed, newer: Claimed
) -> SavedContradiction:
    """Record that two claims of a page contradict each other. The same pair is recorded once."""
    older, newer = clean_claim(older, "older"), clean_claim(newer, "newer")
    page_id = await locate(database, scope, address)
    async with writing_page(database, scope, page_id) as (writer, page):
        if claims.has_claim(older.claim, newer.claim) and claims.has_claim(newer.claim, older.claim):
            raise BadInput("Both claims say the same. Give two that cannot both hold.", "newer.claim")
        key = digest(older.claim, newer.claim)
        known: UUID | None = await writer.value(CONTRADICTIONS["find_recorded"], page_id=page.id, digest=key)
        if known is not None:
            return SavedContradiction(known, Saved(page.id, page.version, changed=False))
        given = {"older.source.ref": older.source, "newer.source.ref": newer.source}
        sources = await find_sources(writer, given)
        row: dict[str, Any] = {"id": new_id(), "page_id": page.id, "digest": key}
        for name, claimed, source in zip(("older", "newer"), (older, newer), sources, strict=True):
            row |= row_of(writer, page, name, claimed, source)
        if row["older_on"] > row["newer_on"]:
            raise BadInput("The newer claim is older than the other one. Give them the other way round.", "newer.on")
        await write_contradictions(writer, [row])
        writer.touched.add(page.id)
        await record(writer, "contradiction.recorded", page.id, version=page.version, contradictionId=row["id"])
        return SavedContradiction(row["id"], Saved(page.id, page.version))


def clean_claim(claimed: Claimed, name: str) -> Claimed:
    """Return the validated claim. A BadInput names the field below the argument `name`."""
    return Claimed(
        claim_text(claimed.claim, f"{name}.claim"),
        claimed.section_slug and check_section_slug(claimed.section_slug),
        check_source(claimed.source, f"{name}.source"),
        None if claimed.on is None else validation.timestamp(claimed.on, f"{name}.on"),
    )


def row_of(writer: Writer, page: Page, name: str, claimed: Claimed, source: Row | None) -> dict[str, Any]:
    """Return the columns of the older or the newer claim. The section defaults to the only one with the claim."""
    if claimed.section_slug:
        try:
            outline.section_index(page.sections, claimed.section_slug)
        except NotFound as error:
            raise BadInput(error.message, f"{name}.sectionSlug") from None
    return {
        f"{name}_claim": claimed.claim,
        f"{name}_section_slug": claimed.section_slug or only_section_with(page, claimed.claim),
        f"{name}_source_id": source and source["id"],
        f"{name}_on": claimed.on or (source["captured_at"] if source else writer.now),
    }


async def write_contradictions(writer: Writer, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write contradictions, given as mappings of column names to values. Return how many are new.

    A row without a resolution is open, and a row without a support has its support counted.
    """
    columns = {
        "ids": "id", "page_ids": "page_id", "digests": "digest", "older_claims": "older_claim",
        "older_section_slugs": "older_section_slug", "older_source_ids": "older_source_id", "older_on": "older_on",
        "older_support": "older_support", "newer_claims": "newer_claim", "newer_section_slugs": "newer_section_slug",
        "newer_source_ids": "newer_source_id", "newer_on": "newer_on", "newer_support": "newer_support",
        "resolutions": "resolution", "reasons": "reason", "resolved_at": "resolved_at",
    }  # fmt: skip
    actor = writer.scope.actor
    return await writer.run(
        CONTRADICTIONS["write_contradictions"],
        **{name: [row.get(column) for row in rows] for name, column in columns.items()},
        author_kind=actor.kind.value,
        author_id=actor.id,
    )


@proposable
async def resolve_contradiction(
    database: Database, scope: Scope, contradiction_id: UUID, resolution: Resolution, reason: str
) -> SavedContradiction:
    """Resolve a contradiction: one claim supersedes the other, or both hold.

    Raises BadInput if it was resolved in another way before.
    """
    reason = validation.line(reason, "reason", REASON.maximum)
    async with writing_row(database, scope, CONTRADICTIONS["find_owner"], contradiction_id, NO_CONTRADICTION) as writer:
        row = await writer.one(CONTRADICTIONS["find_one"], contradiction_id=contradiction_id)
        page = await find_page(writer, row["page_id"]) if row else None
        if row is None or page is None:
            raise NotFound(NO_PAGE)
        if row["resolution"] == resolution.value:
            return SavedContradiction(contradiction_id, Saved(page.id, page.version, changed=False))
        if row["resolution"] is not None:
            decided = row["resolution"].upper()
            raise BadInput(f"This was decided already: {decided}. Withdraw its superseded claim instead.", "resolution")
        actor = writer.scope.actor
        await writer.run(
            CONTRADICTIONS["decide"],
            contradiction_id=contradiction_id,
            resolution=resolution.value,
            reason=reason,
            resolver_kind=actor.kind.value,
            resolver_id=actor.id,
        )
        saved, claim_id = Saved(page.id, page.version), None
        if resolution is not Resolution.BOTH_HOLD:
            saved, claim_id = await supersede_lost(writer, page, row, resolution, reason)
        writer.touched.add(page.id)
        await record(
            writer, "contradiction.resolved", page.id,
            version=saved.version, contradictionId=contradiction_id, resolution=resolution.value,
        )  # fmt: skip
        return SavedContradiction(contradiction_id, saved, claim_id)


async def supersede_lost(
    writer: Writer, page: Page, row: Row, resolution: Resolution, reason: str
) -> tuple[Saved, UUID]:
    """Remove the lost claim from the text of the page, and record that the kept claim superseded it.

    An older claim is superseded on the date of the newer claim; a wrong newer claim, at the time of the decision.
    """
    lost, kept = ("older", "newer") if resolution is Resolution.KEEP_NEWER else ("newer", "older")
    kept_source = SourceRef(row[f"{kept}_kind"], row[f"{kept}_ref"]) if row[f"{kept}_id"] else None
    until = row["newer_on"] if lost == "older" and row["older_on"] < row["newer_on"] else writer.now
    fact, replacement, slug = row[f"{lost}_claim"], row[f"{kept}_claim"], row[f"{lost}_section_slug"]
    correction = Correction(fact, replacement, slug, None, kept_source, until, Mode.NONE)
    known = await writer.one(CLAIMS["find_claim"], page_id=page.id, digest=correction.digest)
    after = await without_claim(page, fact, replacement)
    sources = [source_of(row, lost), source_of(row, kept)]
    if all(section.slug != slug for section in after.sections):
        slug = None
    known_id = known["id"] if known else None
    done = await record_claim(writer, page, after, correction, sources, slug, reason, known_id)
    return done.saved, done.claim_id


def source_of(row: Row, name: str) -> dict[str, Any] | None:
    """Return the source of the older or the newer claim in the form that `record_claim` takes."""
    return {"id": row[f"{name}_id"], "captured_at": row[f"{name}_captured_at"]} if row[f"{name}_id"] else None


async def without_claim(page: Page, fact: str, replacement: str) -> Page:
    """Return the page without the claim, where it occurs word for word.

    A quote of the claim is removed with its citation mark. In other text the replacement takes its place, unless the
    page contains the replacement already.
    """
    has_replacement = any(claims.has_claim(claims.unescaped(section.body), replacement) for section in page.sections)
    for section in page.sections:
        body = section.body
        for quote in reversed(claims.statements(body)):
            if claims.has_claim(quote.text, fact) and claims.has_claim(fact, quote.text):
                body = claims.without_statement(body, quote)
        if body == section.body and body.count(fact) == 1:
            body = body.replace(fact, "" if has_replacement else replacement)
        if body != section.body:
            page, _ = await replace_text(page, section.slug, body.strip(), "reason")
    return page
