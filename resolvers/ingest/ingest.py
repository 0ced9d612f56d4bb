"""Ingest a file: store it unchanged, store its text as a source, and write or propose a page from it."""

import sys
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from posixpath import basename, splitext
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson

from content.claims.claims import unescaped
from content.ingest.digest import Digest, Lines, digest
from content.ingest.extraction import Extracted, Unreadable, check_extracted, decode, is_plain, media_type_of
from content.ingest.flags import Flag, flags
from content.limits import ADDRESS, CONTENT, EDIT_SUMMARY, ORIGINAL, SOURCE_TITLE, TITLE
from content.notes.dates import date_of
from content.notes.frontmatter import BadFrontmatter, split_any
from content.sensitivity import FIELD
from content.sentences import first_sentence
from content.templates import TEMPLATES
from db.connection import Row
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope
from db.sensitivity import pooled
from db.tables import PAGE_TYPES
from lib.fair_queue import FairQueue, slot
from lib.processes import ProcessTimeout, run_bounded
from lib.threads import offload

from .. import validation
from ..errors import BadInput, Conflict
from ..model.drafts import PageDraft, SectionDraft
from ..model.names import free_slug
from ..model.pages import Page, Saved, find_page
from ..pages.upsert import check_slug_is_own, prepare_draft, upsert
from ..proposals.gate import ReviewRequired
from ..proposals.operations import proposable
from ..sources.blobs import BLOBS, OriginalDraft, hash_of
from ..sources.grounding import ground
from ..sources.sources import SECTIONS, SourceDraft, add_source, cite, find_source
from ..transactions.transaction import check_may_write, read_connection, writing
from ..transactions.writer import Writer

TRIGGER = "ingest"
PARSERS = FairQueue(2)  # files that are parsed at the same time, each in a process with its own memory
PARSE_TIMEOUT = 30.0  # seconds for parsing one file
MAX_OUTPUT = 8 * CONTENT.maximum  # bytes of the output of a parser process
ORIGIN = "ingested_from"
POINTS = "key_points"
FLAGS_QUOTED = 10  # flagged sentences that a proposal quotes


@dataclass(frozen=True, slots=True)
class IngestDraft:
    """A file to ingest. `address` is where it came from; other bytes from the same address are a new version."""

    data: bytes | None
    category: str | None
    address: str | None = None
    media_type: str | None = None
    title: str | None = None
    captured_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest. `created` is false if the same bytes were ingested from the same address before.

    `page_id` is the page, or `proposal_id` is the proposal of it that waits for a reviewer.
    """

    source_id: UUID
    version: int
    created: bool
    flags: Sequence[Flag]
    page_id: UUID | None = None
    proposal_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file: the source to store, and the digest from which the page is written."""

    draft: SourceDraft
    category: str
    flags: list[Flag]
    digest: Digest


async def ingest_source(database: Database, scope: Scope, draft: IngestDraft) -> Ingested:
    """Store a file and its text, and write or propose a page of the category, in one transaction.

    Instructions in the file are treated as data. The same bytes from the same address change nothing.
    """
    await check_may_write(database, scope)
    category = checked_category(draft.category)
    if draft.data is None:
        draft = await fetch_file(database, draft)
    read = await parse_file(draft, draft.data or b"", category)
    async with OneTransaction(database) as whole:
        saved = await add_source(whole, scope, read.draft, trigger=TRIGGER)
        ingested = Ingested(saved.source_id, saved.version, saved.created, read.flags)
        done = await write_or_propose_page(whole, scope, read, ingested)
        await whole.commit()
    return done


def file_of(content: str | None, base64: str | None) -> bytes | None:
    """Return the bytes of a file that is given as text or in base64, or None if neither is given. Raises BadInput."""
    if content is not None and base64 is not None:
        raise BadInput("Give the file as content or as contentBase64, not both.", "content")
    if content is not None:
        return validation.text(content, "content", ORIGINAL.maximum).encode()
    if base64 is None:
        return None
    try:
        return b64decode(base64, validate=True)
    except ValueError:
        raise BadInput("This is not base64.", "contentBase64") from None


class File(Protocol):
    """A fetched file, with the media type that its server sent."""

    @property
    def data(self) -> bytes: ...

    @property
    def media_type(self) -> str | None: ...


Fetch = Callable[[str], Awaitable[File]]
FETCHING: WeakKeyDictionary[Database, Fetch] = WeakKeyDictionary()


def let_fetch(database: Database, fetch: Fetch) -> None:
    """Set the function that fetches addresses for ingests of this database.

    It is injected because its module imports an HTTP client, which few commands need.
    """
    FETCHING[database] = fetch


async def fetch_file(database: Database, draft: IngestDraft) -> IngestDraft:
    """Return the draft with the file at its address. Raises BadInput if there is no URL, or it may not be fetched."""
    url = (draft.address or "").strip()
    if not url.startswith(("http://", "https://")):
        raise BadInput("Give the file: content, or contentBase64.", "content")
    fetch = FETCHING.get(pooled(database))
    if fetch is None:
        raise BadInput(
            "Addresses are not fetched here. Give the file as content; an operator may allow hosts with "
            "CAIRN_INGEST_HOSTS.",
            "address",
        )
    file = await fetch(url)
    return replace(draft, data=file.data, media_type=draft.media_type or file.media_type)


def checked_category(category: str | None) -> str:
    """Return the category. Raises BadInput if it is missing or unknown."""
    if not category:
        raise BadInput(f"Say which category the page belongs to: {', '.join(PAGE_TYPES)}.", "category")
    return validation.one_of(category, PAGE_TYPES, "category")


# -- the file


async def parse_file(draft: IngestDraft, data: bytes, category: str) -> ParsedFile:
    """Parse a file, without holding a connection. Raises BadInput if the file cannot be parsed."""
    hash = await hash_of(data)
    given = validation.optional(draft.address, "address", ADDRESS.maximum)
    address = " ".join(given.split()) if given else f"sha256:{hash.hex()[:32]}"
    try:
        media_type = media_type_of(draft.media_type, address, data)
        extracted = await text_of(media_type, data)
    except Unreadable as error:
        raise BadInput(f"The file cannot be ingested: {error}.", "content") from None
    text, size = extracted.text, len(extracted.text)
    values = await offload(size, fields_of, text)
    file_digest = await offload(size, digest, text)
    flagged = await offload(size, flags, text)
    title = draft.title or values.get("title") or extracted.title or file_digest.title or name_of(address) or "Untitled"
    is_url = address.lower().startswith(("http:", "https:"))
    return ParsedFile(
        draft=SourceDraft(
            "url" if is_url else "document",
            address,
            text,
            " ".join(str(title).split())[: SOURCE_TITLE.maximum],
            draft.captured_at or date_of(values, address, text),
            metadata={FIELD: values[FIELD]} if values.get(FIELD) else None,
            original=OriginalDraft(data, media_type, address),
        ),
        category=category,
        flags=flagged,
        digest=file_digest,
    )


async def text_of(media_type: str, data: bytes) -> Extracted:
    """Return the text of a file. Files other than plain text are parsed in a separate process. Raises Unreadable."""
    if is_plain(media_type):
        return check_extracted(Extracted(await offload(len(data), decode, data)))
    command = [sys.executable, "-I", "-m", "content.ingest.extraction", media_type]
    try:
        async with slot(PARSERS):
            code, output = await run_bounded(command, data, PARSE_TIMEOUT, MAX_OUTPUT)
        result = await offload(len(output), orjson.loads, output) if code == 0 else {}
    except ProcessTimeout:
        raise Unreadable(f"reading it takes more than {PARSE_TIMEOUT:.0f} seconds") from None
    except orjson.JSONDecodeError:
        result = {}
    if "text" not in result:
        raise Unreadable(result.get("error") or "reading it takes too much time or memory")
    return Extracted(result["text"], result["title"])


def fields_of(text: str) -> dict[str, Any]:
    """Return the frontmatter of a text, or an empty dict if there is none or it is invalid."""
    try:
        return split_any(text)[0]
    except BadFrontmatter:
        return {}


def name_of(address: str) -> str:
    """Return the name of a file without its extension as a title, or an empty string if the address has none."""
    try:
        parts = urlsplit(address) if "://" in address else None
    except ValueError:  # it only looks like a URL, as `http://[draft]/notes` does
        parts = None
    name = basename(unquote(parts.path).rstrip("/")) or parts.netloc if parts else basename(address)
    return "" if name.startswith("sha256:") else splitext(name)[0].replace("_", " ").replace("-", " ").strip()


# -- the page


async def write_or_propose_page(database: Database, scope: Scope, read: ParsedFile, ingested: Ingested) -> Ingested:
    """Create or update the page of a stored source, or propose that if writes of the role are reviewed."""
    source, old = f"{read.draft.kind}/{read.draft.ref}", None
    async with read_connection(database) as connection:
        reader = Writer(connection, scope)
        given = {"kind": read.draft.kind, "ref": read.draft.ref, "type": read.category, "named": source}
        found = await reader.one(BLOBS["find_ingested"], **given)
        page = await find_page(reader, found["id"]) if found else None
    if found and found["source_id"] == ingested.source_id:
        return replace(ingested, page_id=found["id"])
    if found:
        old = await offload(len(found["content"]), digest, found["content"])
    parts = digest_sections(read.category, read.digest, page, old and digest_sections(read.category, old))
    try:
        saved = await write_ingested(
            database,
            scope,
            page_draft(read, source, page, parts, old),
            source_id=ingested.source_id,
            citations=[(slug, part.start, part.end) for slug, part in parts.items() if part.text],
            evidence=[source.replace("/", ":", 1)],
            is_new=page is None,
        )
    except ReviewRequired as held:
        if held.proposal_id is None:
            raise
        return replace(ingested, proposal_id=held.proposal_id)
    return replace(ingested, page_id=saved.page_id)


def digest_sections(
    category: str, digest: Digest, page: Page | None = None, before: Mapping[str, Lines] | None = None
) -> dict[str, Lines]:
    """Return the parts of a digest by section slug.

    For an existing page, only sections that are empty or still have the text of the last ingest, `before`, are
    included, so that nothing that others wrote is overwritten.
    """
    first = TEMPLATES[category][0][0]
    parts = {first: digest.summary} | ({POINTS: digest.points} if digest.points else {})
    if page is None:
        return parts
    current = {section.slug: section.body.strip() for section in page.sections}
    own = {slug: part.text for slug, part in (before or {}).items()}
    return {slug: part for slug, part in parts.items() if current.get(slug, "") in ("", own.get(slug))}


def page_draft(
    read: ParsedFile, source: str, page: Page | None, parts: Mapping[str, Lines], before: Digest | None = None
) -> PageDraft:
    """Return the draft of the page. A new page has all template sections of its category; stored headings stay.

    The summary of an existing page is renewed if it is empty or still that of the last ingest, `before`.
    """
    headings = {POINTS: "Key points", **dict(TEMPLATES[read.category])}
    stored = {section.slug for section in page.sections} if page else ()
    sections = [
        SectionDraft(part.text, slug, None if slug in stored else headings[slug]) for slug, part in parts.items()
    ]
    summary, why = summary_of(read.digest), edit_summary(read, source)
    if page is not None:
        is_own = not page.summary or (before is not None and page.summary == summary_of(before))
        kept = summary if is_own else None
        return PageDraft(page.type, page.title, page.slug, summary=kept, sections=sections, edit_summary=why)
    sections += [SectionDraft("", slug, heading) for slug, heading in TEMPLATES[read.category] if slug not in parts]
    return PageDraft(
        read.category,
        (read.draft.title or "")[: TITLE.maximum],
        summary=summary,
        sections=sections,
        metadata={ORIGIN: source, **(read.draft.metadata or {})},
        edit_summary=why,
    )


def summary_of(digest: Digest) -> str | None:
    """Return the first sentence of a digest as the summary of a page."""
    return unescaped(first_sentence(digest.summary.text)) or None


def edit_summary(read: ParsedFile, source: str) -> str:
    """Return the edit summary of the page. It quotes the sentences that address agents, for the reviewer."""
    summary = f"Ingested from {source}."
    if read.flags:
        count = f"{len(read.flags)} sentence{'s' * (len(read.flags) != 1)}"
        quoted = "".join(f"\n- line {flag.line}: {flag.text}" for flag in read.flags[:FLAGS_QUOTED])
        summary += f" {count} in it address agents; the page leaves them out:{quoted}"
    return summary[: EDIT_SUMMARY.maximum]


@proposable
async def write_ingested(
    database: Database,
    scope: Scope,
    draft: PageDraft,
    *,
    source_id: UUID,
    citations: Sequence[tuple[str, int, int]],
    evidence: Sequence[str],
    is_new: bool,
) -> Saved:
    """Create or update a page, and cite lines of the source in its sections, in one transaction.

    `citations` are (section slug, first line, last line). Raises Conflict if another version of the file has got a page
    since this one was proposed.
    """
    ready = await prepare_draft(draft)
    async with writing(database, scope) as writer:
        source = await find_source(writer, source_id)
        if is_new:
            await check_has_no_page(writer, source, draft.type)
            ready = ready._replace(slug=await free_slug(writer, draft.type, ready.slug))
        else:
            await check_slug_is_own(writer, ready)
        saved = await upsert(writer, ready)
        sections = await writer.all(SECTIONS["find_sections"], page_id=saved.page_id)
        ids = {row["section_slug"]: row["id"] for row in sections}
        for slug, start, end in citations:
            if slug in ids:
                await cite(writer, saved.page_id, ids[slug], source, start, end)
        await ground(writer, [saved.page_id], recheck=True)
    return saved


async def check_has_no_page(writer: Writer, source: Row, category: str) -> None:
    """Raise Conflict if a version of the source has a page of the category, which a new version would update."""
    name = {"kind": source["kind"], "ref": source["ref"]}
    found = await writer.one(BLOBS["find_ingested"], **name, type=category, named="/".join(name.values()))
    page = await find_page(writer, found["id"]) if found else None
    if page is not None:
        message = "has been made of another version of this file since. Decline this, and ingest the file again."
        raise Conflict(f"{page.name[0].upper()}{page.name[1:]} {message}", page.version, page.id)
