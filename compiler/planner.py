"""The protocols of planners and section writers, with the types of their arguments and results.

Planners and writers store nothing. The compiler checks and applies what they return, so a wrong, slow or hostile one
does no harm. The default ones are rule-based (`compiler/extraction`); a language model can take their place
(`compiler/models`). The text of a source is data, never an instruction.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from content.claims.corrections import Verdict


@dataclass(frozen=True, slots=True)
class SourceText:
    """One immutable source. `metadata` may have place, city, journal_id, person, project, tags, thread_id and more."""

    id: UUID
    kind: str
    ref: str
    content: str
    captured_at: datetime
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    earlier_ids: tuple[UUID, ...] = ()
    """The ids of older versions of this source. All versions count as one source."""


@dataclass(frozen=True, slots=True)
class PageCard:
    """The fields of a page that planners need. `aliases` are its normalised names, including its title."""

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
    """A mention: a name without a page, seen in `source_ids` (oldest first).

    `cluster` is JSON that the planner stored with the mention.
    """

    alias: str
    name: str
    status: str
    suggested_type: str | None
    source_ids: tuple[UUID, ...]
    seen_at: tuple[datetime, ...]
    cluster: Mapping[str, Any] = field(default_factory=dict)


class Citations(NamedTuple):
    """The newest sources that a page cites, and whether people have changed the page."""

    source_ids: tuple[UUID, ...]
    is_compiled: bool = True
    """Whether only the compiler has written the page."""
    was_merged: bool = False
    """Whether the page was merged into another page before, and then restored."""


class Knowledge(Protocol):
    """A planner's read access to the wiki, by normalised names. Results grow with the arguments, not with the wiki."""

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        """Return the pages of each name, active before archived, the oldest first."""

    async def names(self, max_names: int) -> Collection[str] | None:
        """Return the names of all pages, including archived ones, or None if there are more than `max_names`."""

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        """Return the mention of each name, whether open, promoted or ignored."""

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        """Return sources of this wiki by id. Forgotten sources are left out."""

    async def sources_with(self, names: Collection[str], max_sources: int) -> Mapping[str, Sequence[UUID]]:
        """Return the newest compiled sources that have all words of each name, at most `max_sources` of each.

        The words may be in any order and have other endings, so the texts are to be compared with the name.
        """

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        """Return the citations of each active page."""


@dataclass(frozen=True, slots=True)
class PageName:
    """A reference to a stored page (`id`), or to a page that the same plan proposes (`type` and `title`)."""

    id: UUID | None = None
    type: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SectionProposal:
    """A section that has news, and the sources of the news. Only these become citations of the section."""

    slug: str
    source_ids: tuple[UUID, ...]
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class NewPage:
    """A proposal to create a page. `promotes` has the normalised names of the mentions that become this page."""

    type: str
    title: str
    sections: tuple[SectionProposal, ...]
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    promotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageUpdate:
    """A proposal to update a page.

    Its summary is used only if the page has none, or if the compiler wrote the present one.
    """

    page_id: UUID
    sections: tuple[SectionProposal, ...]
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldName:
    """A sighting to store: one source says a name that has not earned a page yet. `context` is the quoted sentence.

    `cluster` replaces the JSON that is stored with the mention.
    """

    name: str
    source_id: UUID
    context: str
    suggested_type: str | None = None
    cluster: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkProposal:
    """A proposal to link one page to another, with the sources that relate them."""

    start: PageName
    end: PageName
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class PageMerge:
    """A proposal to merge the first page into the second, with the sources that say that both are about the same thing.

    The pages are merged if only the compiler has written both. Otherwise the merge is proposed to a reviewer.
    """

    from_id: UUID
    into_id: UUID
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a planner proposes for one batch of sources.

    `usage` counts tokens and cost, if there are any. `dropped` counts, by reason, what the planner itself rejected.
    `read` is the number of sources that it read, from the first one on, or None if it read all.
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
"""The slugs of the sections that a page begins with. They say what the page is about."""
EARLIER = {"recent": (*LEADING, "highlights"), **dict.fromkeys(LEADING, ())}
"""The earlier sections whose content a section does not repeat, by its slug. For all other slugs these are LEADING."""


@dataclass(frozen=True, slots=True)
class SectionTask:
    """One section to write: its present text, and all sources that it cites, including the new ones."""

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
    """The id of the page; None for a new page."""
    earlier: tuple[tuple[str, tuple[SourceText, ...]], ...] = ()
    """(slug, sources) of the sections before this one. The section need not repeat what those say."""
    is_synthesis: bool = True
    """Whether the page cites enough sources for a synthesis. If not, the section quotes its sources."""


class Planner(Protocol):
    """Reads new sources and proposes changes of the wiki. The same input must give the same plan.

    A planner may set `is_free = True` to declare that it costs nothing; if the writer is free as well, batches are
    larger. If it has a method `async def read_ahead(sources)`, this is called while a batch is stored, with the sources
    that are likely to be planned next.
    """

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan: ...


class Disputed(NamedTuple):
    """An older sentence of a page, a newer sentence of a source that may override it, and the names of the page."""

    older: str
    newer: str
    names: frozenset[str] = frozenset()


class Judge(Protocol):
    """Decides whether newer sentences override older ones."""

    async def judge(self, disputed: Disputed) -> Verdict:
        """Return whether the newer sentence overrides the older one, adds to it, or is unrelated to it."""


class SectionWriter(Protocol):
    """Writes the text of one section from its sources, and from nothing else.

    A writer may set `is_free = True` to declare that it costs nothing: its batches are not divided at the limits of a
    job. It may set `sources_max`, the number of newest cited sources that it is given besides the new ones, and
    `reads_again = True` to be given also the sources that the present lines of the section cite.
    """

    async def write(self, task: SectionTask) -> str:
        """Return the text in markdown, or an empty string if the sources say nothing for this section."""
