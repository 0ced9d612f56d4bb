"""The text of a rollup section: a line for each page, below the text that people have written there.

Edits of people stay: a line that a person changed is not updated, and a line that a person removed is not added again.
A digest is stored of each line as it was written, without the address, which changes when a page is renamed. Lines with
another digest belong to people.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from content.markdown.links import page_link, rollup_line
from content.names import normalise

from .density import Aggregation

ADDRESS = re.compile(r"(?<!\\)\]\(/wiki/([^()\s]*)\)")
SEE = re.compile(r"See: \[.*\]\(/wiki/topic/[^()\s]*\)$")
HIGHLIGHTS = 5  # pages that are listed in a promoted section


class Child(NamedTuple):
    """A listed page. `tags` are its own and those of its sources, `source_count` the number of sources that it
    cites."""

    id: UUID
    type: str
    slug: str
    title: str
    summary: str | None
    tags: tuple[str, ...]
    source_count: int = 0

    @property
    def line(self) -> str:
        return rollup_line(self.title, self.type, self.slug, self.summary)


class Listing(NamedTuple):
    """The text of a rollup section with its state."""

    body: str
    ids: tuple[UUID, ...]
    """The listed pages."""
    digests: tuple[str, ...]
    """The digest of the line of each page, or "" for a line of a person."""
    dismissed: tuple[UUID, ...]
    """The pages whose lines people removed."""


class ParsedList(NamedTuple):
    """The previous text of a section: the line of each page, and the other text, which people wrote."""

    lines: dict[UUID, str]
    other_text: str


def in_order(children: Sequence[Child]) -> list[Child]:
    return sorted(children, key=lambda child: (normalise(child.title), child.type, child.slug))


def build_listing(body: str, children: Sequence[Child], before: Aggregation) -> Listing:
    """Return the new text of a section that lists these pages, made from its previous text and state."""
    parsed = parse_list(body, children, before)
    digests = dict(zip(before.linked_page_ids, before.line_digests, strict=False))
    removed = {id for id in digests if id not in parsed.lines} & {child.id for child in children}
    dismissed = tuple(sorted({*before.dismissed_page_ids, *removed} - parsed.lines.keys()))
    lines: dict[UUID, str] = {}
    new_digests: dict[UUID, str] = {}
    for child in in_order(children):
        if child.id not in dismissed:
            present = parsed.lines.get(child.id)
            is_written = present is None or digest(present) in (digests.get(child.id), digest(child.line))
            lines[child.id] = child.line if present is None or is_written else present
            new_digests[child.id] = digest(child.line) if is_written else ""
    text = join_texts(parsed.other_text, "\n".join(lines.values()))
    return Listing(text, tuple(lines), tuple(new_digests.values()), dismissed)


def shorten_section(body: str, children: Sequence[Child], before: Aggregation, title: str, slug: str) -> str:
    """Return the text of a section after its promotion to a topic: a summary, the pages with most sources, and a
    link."""
    parsed = parse_list(body, children, before)
    shown = [child for child in children if child.id in before.linked_page_ids]
    best = sorted(shown, key=lambda child: (-child.source_count, normalise(child.title), child.slug))[:HIGHLIGHTS]
    text = "\n".join(
        (
            listing_summary(before),
            "",
            *(parsed.lines.get(child.id, child.line) for child in best),
            "",
            see_also_line(title, slug),
        )
    )
    return join_texts(parsed.other_text, text)


def without_promotion_text(body: str, known: Aggregation) -> str:
    """Return the text of a section whose topic was deleted, without the summary and the link to the topic."""
    return "\n".join(line for line in body.splitlines() if line != listing_summary(known) and not SEE.match(line))


def listing_summary(known: Aggregation) -> str:
    """Return the summary of a promoted section: the number of its pages, their tags, and the number of their
    sources."""
    about = f" about {', '.join(known.observed_tags[:3])}" if known.observed_tags else ""
    return f"{len(known.linked_page_ids)} pages{about}, from {known.supporting_record_count} sources. Among them:"


def see_also_line(title: str, slug: str) -> str:
    return f"See: {page_link(' '.join(title.split()), 'topic', slug)}"


def parse_list(body: str, children: Sequence[Child], before: Aggregation) -> ParsedList:
    """Return the lines of pages and the other lines of a text.

    The page of a line is found by its address, or by the digest of the line if the page was renamed since.
    """
    by_address = {f"{child.type}/{child.slug}": child.id for child in children}
    by_digest: dict[str, list[UUID]] = defaultdict(list)
    for linked, line_digest in zip(before.linked_page_ids, before.line_digests, strict=False):
        by_digest[line_digest].append(linked)
    lines: dict[UUID, str] = {}
    others = []
    for line in body.splitlines():
        candidates = [by_address.get(address(line)), *by_digest.get(digest(line), ())]
        page_id = next((id for id in candidates if id and id not in lines), None)
        if page_id:
            lines[page_id] = line
        elif digest(line) not in by_digest:
            others.append(line)
    return ParsedList(lines, "\n".join(others).strip())


def address(line: str) -> str:
    """Return the address in the link with which a line begins: `entity/franklin-barbecue`, or an empty string."""
    found = ADDRESS.search(line) if line.startswith("- [") else None
    return found[1] if found else ""


def join_texts(first: str, second: str) -> str:
    return "\n\n".join(filter(None, (first, second)))


def digest(line: str) -> str:
    """Return the digest of a line without the address of its link."""
    return hashlib.sha256(ADDRESS.sub("]", line).encode()).hexdigest()[:8]
