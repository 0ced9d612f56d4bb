"""The protocols of planners and section writers: what they get, and what they answer. Neither writes anything: what
they propose is checked and applied by others, so a planner may be wrong, slow or hostile without harm.

The default is made of rules, in `compiler/extraction`; with a key any model can take its place. What a source says is
data.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from content.claims.corrections import Verdict


@dataclass(frozen=True, slots=True)
class SourceText:
    """One immutable source. `metadata` may hold place, city, journal_id, person, project, tags, thread_id and more."""

    id: UUID
    kind: str
    ref: str
    content: str
    captured_at: datetime
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    earlier_ids: tuple[UUID, ...] = ()
    """Of the older versions of the same source, where it has any: they count as one."""


@dataclass(frozen=True, slots=True)
class PageCard:
    """A page as far as a planner has to know it. `aliases` are normalised names, the title's among them."""

    id: UUID
    type: str
    slug: str
    title: str
    summary: str | None
    aliases: frozenset[str]
    tags: tuple[str, ...] = ()
    section_slugs: tuple[str, ...] = ()
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class MentionCard:
    """A mention: seen in `source_ids`, oldest first. `cluster` is whatever the planner kept with it."""

    alias: str
    name: str
    status: str
    suggested_type: str | None
    source_ids: tuple[UUID, ...]
    seen_at: tuple[datetime, ...]
    cluster: Mapping[str, Any] = field(default_factory=dict)


class Citations(NamedTuple):
    """The newest sources that a page cites, and who has written it."""

    source_ids: tuple[UUID, ...]
    is_compiled: bool = True
    """Whether nobody but the compiler has written it."""
    was_merged: bool = False
    """Whether it was merged into another page before, and somebody has brought it back."""


class Knowledge(Protocol):
    """The wiki as a planner asks it, by normalised names: an answer is as large as the question, not as the wiki."""

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        """Return the pages of each name, active before archived, the oldest first."""

    async def names(self, most: int) -> Collection[str] | None:
        """Return the names of all pages, archived ones too; None where there are more than `most`."""

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        """Return the mention of each, open, promoted or ignored."""

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        """Return sources of this wiki that were read before."""

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        """Return what each of these pages cites."""


@dataclass(frozen=True, slots=True)
class PageName:
    """A page that is there (`id`), or one that the same plan proposes (`type` and `title`)."""

    id: UUID | None = None
    type: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SectionProposal:
    """A section that has something new to say, and the sources for it: those alone become its provenance."""

    slug: str
    source_ids: tuple[UUID, ...]
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page that should be made. `promotes` names the held mentions (aliases) that it is made of."""

    type: str
    title: str
    sections: tuple[SectionProposal, ...]
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    promotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageUpdate:
    """News for a page that is there. A summary is taken only where the page has none, or one that a compile wrote."""

    page_id: UUID
    sections: tuple[SectionProposal, ...]
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldName:
    """A name that has not earned a page yet, as one source says it; `context` is the quoted sentence.

    `cluster` replaces what was kept with the mention.
    """

    name: str
    source_id: UUID
    context: str
    suggested_type: str | None = None
    cluster: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkProposal:
    """One page refers to another, because these sources say so."""

    start: PageName
    end: PageName
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class PageMerge:
    """Two pages about one thing, because these sources say so: all of the first belongs to the second.

    It is done where only the compiler has written both, and proposed otherwise.
    """

    from_id: UUID
    into_id: UUID
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one batch of sources asks for. `usage` counts tokens and cost, where there are any.

    `dropped` counts what the planner itself could not let stand. `read` is how many sources it read, the first of
    those that it was given, where it did not read all.
    """

    new_pages: tuple[NewPage, ...] = ()
    updates: tuple[PageUpdate, ...] = ()
    held: tuple[HeldName, ...] = ()
    links: tuple[LinkProposal, ...] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    read: int | None = None
    merges: tuple[PageMerge, ...] = ()


LEADING = ("overview", "summary")
"""The sections that pages begin with, which say what the page is about."""
EARLIER = {"recent": (*LEADING, "highlights"), **dict.fromkeys(LEADING, ())}
"""The sections before one, where these are others than LEADING."""


@dataclass(frozen=True, slots=True)
class SectionTask:
    """One section to write: what it says now, and every source that it rests on, the new ones among them."""

    page_type: str
    page_title: str
    page_aliases: frozenset[str]
    slug: str
    heading: str
    body: str
    sources: tuple[SourceText, ...]
    related: tuple[tuple[str, str, str], ...] = ()
    """(title, type, slug) of pages that the section may name."""
    page_id: UUID | None = None
    """Of a page that is there."""
    earlier: tuple[tuple[str, tuple[SourceText, ...]], ...] = ()
    """Sections before it, and the sources of each: what is said there need not be said again."""
    is_synthesis: bool = True
    """Whether the page cites enough sources for a text of its own; if not, the section quotes them."""


class Planner(Protocol):
    """Reads new sources and says what the wiki should hold. The same input gives the same plan.

    It may say `is_free = True`: where the writer is free as well, it is given more sources at once. One that has
    `async def read_ahead(sources)` is told, while a batch is stored, which sources are likely to be asked for next.
    """

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan: ...


class Disputed(NamedTuple):
    """An older sentence of a page and a newer one of a source that may override it, with the names of the page."""

    older: str
    newer: str
    names: frozenset[str] = frozenset()


class Judge(Protocol):
    """Judges what newer sentences do to older ones."""

    async def judge(self, disputed: Disputed) -> Verdict:
        """Return whether the newer sentence overrides the older one, adds to it, or has nothing to do with it."""


class SectionWriter(Protocol):
    """Writes the text of one section from its sources, and from nothing else.

    It may say `is_free = True`, so that its batches are never divided to keep a job small, and `sources_max`: how many
    sources of a section it is given besides the new ones, the newest. One that says `reads_again = True` is given
    those that the lines of the section name, too.
    """

    async def write(self, task: SectionTask) -> str: ...
