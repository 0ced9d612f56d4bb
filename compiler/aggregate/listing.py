"""The text of a section that lists pages: a line each, and above them whatever people have written there.

What people do to our lines stays: a line that somebody has changed is theirs, and one that was taken out is not put
back. So it is known which lines are ours: by a digest of each, without the address, which changes when a page does.
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
HIGHLIGHTS = 5


class Child(NamedTuple):
    """A page that is listed. `tags` are its own and those of its sources; `source_count` is how many it rests on."""

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
    """A section's text; what each line is, in the order of `ids`; and what people have taken out."""

    body: str
    ids: tuple[UUID, ...]
    digests: tuple[str, ...]
    dismissed: tuple[UUID, ...]


class Standing(NamedTuple):
    """The text that was there: the lines of these pages, and what people wrote besides."""

    lines: dict[UUID, str]
    own: str


def in_order(children: Sequence[Child]) -> list[Child]:
    return sorted(children, key=lambda child: (normalise(child.title), child.type, child.slug))


def listing(body: str, children: Sequence[Child], before: Aggregation) -> Listing:
    """Return the text as it is now, made of the one that was there."""
    standing = read(body, children, before)
    digests = dict(zip(before.linked_page_ids, before.line_digests, strict=False))
    gone = {id for id in digests if id not in standing.lines} & {child.id for child in children}
    dismissed = tuple(sorted({*before.dismissed_page_ids, *gone} - standing.lines.keys()))
    lines: dict[UUID, str] = {}
    made: dict[UUID, str] = {}
    for child in in_order(children):
        if child.id not in dismissed:
            there = standing.lines.get(child.id)
            is_ours = there is None or digest(there) in (digests.get(child.id), digest(child.line))
            lines[child.id] = child.line if there is None or is_ours else there
            made[child.id] = digest(child.line) if is_ours else ""
    return Listing(join_texts(standing.own, "\n".join(lines.values())), tuple(lines), tuple(made.values()), dismissed)


def shorten_section(body: str, children: Sequence[Child], before: Aggregation, title: str, slug: str) -> str:
    """Return the text left of a section that grew into the topic of this title: a summary, highlights and a link."""
    standing = read(body, children, before)
    shown = [child for child in children if child.id in before.linked_page_ids]
    best = sorted(shown, key=lambda child: (-child.source_count, normalise(child.title), child.slug))[:HIGHLIGHTS]
    text = "\n".join(
        (
            listing_summary(before),
            "",
            *(standing.lines.get(child.id, child.line) for child in best),
            "",
            see_also_line(title, slug),
        )
    )
    return join_texts(standing.own, text)


def undone(body: str, known: Aggregation) -> str:
    """Return the text of a section whose topic is gone, without the summary and the way to it."""
    return "\n".join(line for line in body.splitlines() if line != listing_summary(known) and not SEE.match(line))


def listing_summary(known: Aggregation) -> str:
    """Return a sentence that says how many pages it lists, what they are about, and from how many sources."""
    about = f" about {', '.join(known.observed_tags[:3])}" if known.observed_tags else ""
    return f"{len(known.linked_page_ids)} pages{about}, from {known.supporting_record_count} sources. Among them:"


def see_also_line(title: str, slug: str) -> str:
    return f"See: {page_link(' '.join(title.split()), 'topic', slug)}"


def read(body: str, children: Sequence[Child], before: Aggregation) -> Standing:
    """Tell lines of pages from people's: by address, or by digest where the page has another address now."""
    by_address = {f"{child.type}/{child.slug}": child.id for child in children}
    ours: dict[str, list[UUID]] = defaultdict(list)
    for linked, made in zip(before.linked_page_ids, before.line_digests, strict=False):
        ours[made].append(linked)
    lines: dict[UUID, str] = {}
    own = []
    for line in body.splitlines():
        meant = [by_address.get(address(line)), *ours.get(digest(line), ())]
        page_id = next((id for id in meant if id and id not in lines), None)
        if page_id:
            lines[page_id] = line
        elif digest(line) not in ours:
            own.append(line)
    return Standing(lines, "\n".join(own).strip())


def address(line: str) -> str:
    """Return the page that a line of a list begins with a link to, as it is written: `entity/franklin-barbecue`."""
    found = ADDRESS.search(line) if line.startswith("- [") else None
    return found[1] if found else ""


def join_texts(own: str, text: str) -> str:
    return "\n\n".join(filter(None, (own, text)))


def digest(line: str) -> str:
    return hashlib.sha256(ADDRESS.sub("]", line).encode()).hexdigest()[:8]
