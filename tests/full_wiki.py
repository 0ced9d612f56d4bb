"""Creates a wiki in which every field is as long, and as unusual, as a write accepts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from content import limits
from content.limits import Bound
from db.database import Database
from db.scope import Scope
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.sources.mentions import ignore_mention, record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source

# Texts that other formats have to escape, take for their own syntax, or encode with more bytes than others.
PIECES = (
    "x", "\U0001f600", "\x01", "e\u0301", '"', "\\", "#a ", "- ", "a: ", "a, ", "\u2028", "[[b]] ", "{}", "%41", "'",
    "---", "\u0130", "\ufeff", "|", "&amp;", "\x7f", "\u202e",
)  # fmt: skip
LINES = ("\n", "\r\n", "a\n", "---\n", "# x\n", "> ", "* a\n", "\t")


def longest_text(bound: Bound, piece: str = "x") -> str:
    """Return a text with the maximum number of characters: the piece repeated between two letters."""
    return f"x{piece * bound.maximum}"[: bound.maximum - 1] + "x"


def longest_line(bound: Bound, piece: str) -> str:
    """Return such a text on one line, with at most one space between two words."""
    text = longest_text(bound, " ".join(f"x{piece}x".split()))
    return text if text == " ".join(text.split()) else f"{' '.join(text.split())}x"


def longest_texts(number: Bound, bound: Bound, piece: str) -> list[str]:
    """Return the maximum number of different texts, each with the maximum length."""
    return [f"{n} {longest_line(bound, piece)}"[: bound.maximum - 1] + "x" for n in range(number.maximum)]


def largest_metadata(piece: str) -> dict[str, Any]:
    """Return an object with the maximum size in bytes and the maximum depth."""
    deep: Any = {piece: piece}
    for _ in range(limits.METADATA_DEPTH.maximum - 3):
        deep = [deep]
    found: dict[str, Any] = {"deep": deep, "title": piece, "cairn": {"metadata": piece}, piece * 300: [None, 1.5, -1]}
    spare = limits.METADATA.maximum - len(orjson.dumps(found | {"long": ""}))
    found["long"] = piece * (spare // (len(orjson.dumps(piece)) - 2))
    return found


def largest_values() -> dict[str, Any]:
    """Return metadata with the maximum number of values."""
    return {"values": [0] * (limits.METADATA_VALUES.maximum - 2)}


def long_body(piece: str, length: int) -> str:
    """Return a body of `length` characters, with a section that has the longest heading."""
    heading = longest_text(limits.HEADING, "h ")
    start = f"Lead [[{longest_text(limits.LINK, 'n')}|{longest_text(limits.LINK_TEXT, 't')}]].\n\n## {heading}\n\nx"
    return f"{start}{piece * length}"[: length - 1] + "x"


def full_draft(piece: str, text: str = "\n", *, type: str = "entity", length: int = 5_000) -> PageDraft:
    return PageDraft(
        type=type,
        title=longest_line(limits.TITLE, piece),
        slug=longest_text(limits.SLUG, "ab"),
        summary=longest_text(limits.SUMMARY, text),
        body=long_body(piece, length),
        aliases=longest_texts(limits.ALIASES_PER_CALL, limits.ALIAS, piece),
        tags=longest_texts(limits.TAGS, limits.TAG, piece),
        metadata=largest_metadata(piece),
        edit_summary=longest_text(limits.EDIT_SUMMARY, text),
    )


def slug_of(n: int) -> str:
    """Return the slug of the page that is made from the nth piece."""
    return f"{n}-{longest_text(limits.SLUG, 'ab')}"[: limits.SLUG.maximum]


async def create_full_pages(
    database: Database, scope: Scope, pieces: Sequence[str] = PIECES, text: str = "\n", *, length: int = 5_000
) -> list[UUID]:
    """Create a page of each piece with everything that a page can have: evidence, links, mentions, revisions."""
    here, ids = (database, scope), []
    for n, piece in enumerate(pieces):
        wanted = replace(full_draft(piece, text, length=length), slug=slug_of(n))
        page = (await create_page(*here, wanted)).page_id
        source = await add_source(
            *here,
            SourceDraft(
                "document",
                f"{n}{longest_line(limits.REF, piece)}"[: limits.REF.maximum - 1] + "x",
                longest_text(Bound("", length), piece),
                longest_text(limits.SOURCE_TITLE, piece),
                metadata=largest_metadata(piece),
            ),
        )
        await cite_source(
            *here, page_id=page, section_slug="overview", source_id=source.source_id,
            summary=longest_text(limits.CITATION_SUMMARY, text),
        )  # fmt: skip
        name = f"{n} {longest_line(limits.ALIAS, piece)}"[: limits.ALIAS.maximum - 1] + "x"
        quote = longest_text(limits.QUOTE, text)
        held = await record_mention(*here, name=name, source_id=source.source_id, quote=quote)
        if n % 2:
            await ignore_mention(*here, held.mention_id)
        if ids:
            await link_pages(*here, page, ids[-1], reason=longest_line(limits.REASON, piece))
        await update_page(
            *here,
            page,
            body=long_body(piece, length - 1),
            metadata=largest_values(),
            edit_summary=longest_text(limits.EDIT_SUMMARY, text),
        )
        await add_alias(*here, page, name=f"more {longest_line(limits.ALIAS, piece)}"[: limits.ALIAS.maximum - 1] + "x")
        ids.append(page)
    await archive_page(*here, ids[0])
    return ids
