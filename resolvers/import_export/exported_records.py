"""The notes and the records of an export, made from the rows of a wiki."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from content.markdown.citations import CitationMark, ClaimMark, ContradictionMark, StatedMark
from content.markdown.sections import slugs
from content.names import normalise
from content.notes.notes import BadNote, Note, from_fields
from content.values import format_moment
from db.connection import Row

from ..links.targets import PARENT, RELATED

ORIGIN = "imported_from"
REASON = "import"
EMPTY = Note(
    slug=None, type=None, title="", summary=None, body="", aliases=(), tags=(), parent=None, status="active", links=(),
    sources=(), metadata={},
)  # fmt: skip


def note(row: Row, known: frozenset[str], path: str) -> Note:
    """Return the note of a page's row.

    Sources in the metadata stay metadata if the wiki has one of them, because an import would cite it otherwise. The
    path of the original file stays metadata if the exported file has another path.
    """
    metadata = {key: value for key, value in row["metadata"].items() if (key, value) != (ORIGIN, path)}
    uncited = uncited_sources(metadata)
    if known.intersection(citation.ref for citation in uncited):
        uncited = ()
    if uncited:
        del metadata["sources"]
    related = row["related"] or ()
    unanswered = [target.partition(": ") for target in row["unanswered"]]
    natural = slugs(row["headings"]) == row["section_slugs"]
    return Note(
        type=row["type"],
        slug=row["slug"],
        title=row["title"],
        summary=row["summary"],
        body=row["body_md"],
        aliases=tuple(name for name in row["names"] if normalise(name) != normalise(row["title"])),
        tags=tuple(row["tags"]),
        parent=row["parent"] or next((name for relation, _, name in unanswered if relation == PARENT), None),
        status=row["status"],
        links=(
            *(reference["page"] for reference in related),
            *(name for relation, _, name in unanswered if relation == RELATED),
        ),
        reasons={
            reference["page"]: tuple(sorted(reference["reasons"]))
            for reference in related
            if reference["reasons"] != [REASON]
        },
        sources=(*citation_marks(row["citations"] or ()), *uncited),
        superseded=tuple(map(superseded_claim, row["superseded"] or ())),
        contradictions=tuple(map(contradiction, row["contradictions"] or ())),
        metadata=metadata,
        created=row["created_at"],
        updated=row["updated_at"],
        former_slugs=tuple(row["former_slugs"]),
        section_slugs=() if natural else tuple(row["section_slugs"]),
        merged_into=row["merged_into"],
        was_merged=row["was_merged"],
    )


def redirect(row: Row) -> Note:
    """Return the stub of a slug that redirects to a page that does not exist yet."""
    return replace(EMPTY, slug=row["slug"], title=row["slug"].replace("-", " "), redirect_to=row["target"])


def citation_marks(citations: Any) -> Iterator[CitationMark]:
    """Yield the citations of the sections, each with the version of its source if that is not the newest."""
    for row in citations:
        yield CitationMark(
            ref=row["ref"],
            kind=row["kind"],
            section=row["section"],
            line_start=row["line_start"],
            line_end=row["line_end"],
            summary=row["summary"],
            version=None if row["is_newest"] else row["version"],
        )


def superseded_claim(row: Mapping[str, Any]) -> ClaimMark:
    """Return a superseded claim of a page, with its sources if they are known."""
    stated, overriding = ((row[f"{name}_kind"], row[f"{name}_ref"]) for name in ("stated", "overriding"))
    return ClaimMark(
        fact=row["fact"],
        replacement=row["replacement"],
        superseded_on=datetime.fromisoformat(row["superseded_on"]),
        section=row["section"],
        heading=row["heading"],
        stated_by=stated if stated[0] else None,
        overridden_by=overriding if overriding[0] else None,
    )


def contradiction(row: Mapping[str, Any]) -> ContradictionMark:
    """Return a contradiction of a page, with the sources of its claims if they are known."""
    older, newer = (
        StatedMark(
            claim=side["claim"],
            on=datetime.fromisoformat(side["on"]),
            section=side["section"],
            support=side["support"],
            source=(side["kind"], side["ref"]) if side["kind"] else None,
        )
        for side in (row["older"], row["newer"])
    )
    at = row["resolved_at"]
    return ContradictionMark(older, newer, row["resolution"], row["reason"], at and datetime.fromisoformat(at))


def uncited_sources(metadata: Mapping[str, Any]) -> tuple[CitationMark, ...]:
    """Return the citations in the metadata, which an import left there because the wiki lacked the sources.

    Return none unless writing them out gives the same metadata.
    """
    named = metadata.get("sources")
    if not named or not isinstance(named, list):
        return ()
    try:
        found = from_fields({"title": "T", "sources": named}, "").sources
    except BadNote:
        return ()
    return found if [citation.fields() for citation in found] == named else ()


def mention(row: Row, sightings: Sequence[Row]) -> dict[str, Any]:
    """Return a mention with some of its sightings as the record of a line."""
    return {
        "name": row["name"],
        "status": row["status"],
        "page": f"/wiki/{row['page_type']}/{row['page_slug']}" if row["page_type"] else None,
        "suggested_type": row["suggested_type"],
        "first_seen_at": format_moment(row["first_seen_at"]),
        "last_seen_at": format_moment(row["last_seen_at"]),
        "sightings": [
            {
                "kind": sighting["kind"],
                "ref": sighting["ref"],
                "version": sighting["version"],
                "quote": sighting["quote"],
            }
            for sighting in sightings
        ],
    }


def revision(page: Row, row: Row) -> dict[str, Any]:
    """Return a state of a page as the record of a line."""
    return {
        "page": f"/wiki/{page['type']}/{page['slug']}",
        "version": row["version"],
        "title": row["title"],
        "summary": row["summary"],
        "body": row["body_md"],
        "tags": row["tags"],
        "edit_summary": row["edit_summary"],
        "author": {"kind": row["author_kind"], "id": row["author_id"]},
        "created_at": format_moment(row["created_at"]),
        "slug": row["slug"],
        "metadata": row["metadata"],
        "aliases": row["aliases"],
        "erased_at": row["erased_at"] and format_moment(row["erased_at"]),
    }


def source_record(row: Row, file: Row | None) -> dict[str, Any]:
    """Return a version of a source as the record of a line, with the file that it was read from."""
    original = {} if file is None else {"original": original_file(file)}
    return original | {
        "kind": row["kind"],
        "ref": row["ref"],
        "version": row["version"],
        "title": row["title"],
        "captured_at": format_moment(row["captured_at"]),
        "metadata": row["metadata"],
        "content": row["content"],
    }


def original_file(file: Row) -> dict[str, Any]:
    """Return the file that a source was read from as a part of the record of a line."""
    return {
        "media_type": file["media_type"],
        "address": file["address"],
        "sha256": file["hash"].hex(),
        "data": b64encode(file["data"]).decode(),
    }
