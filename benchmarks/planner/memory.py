"""A wiki in memory that plans are applied to: the smallest implementation of `Knowledge`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from compiler.planner import (
    EARLIER,
    LEADING,
    Citations,
    HeldName,
    MentionCard,
    NewPage,
    PageCard,
    PageMerge,
    PageName,
    PageUpdate,
    Plan,
    Planner,
    SectionProposal,
    SectionTask,
    SectionWriter,
    SourceText,
)
from content.names import NoSlug, normalise, numbered_slug, slugify
from content.search.words import words

NAMESPACE = UUID("6a5cbe2e-6f0b-4a58-9a3c-3f3f0b6f0f11")


@dataclass(slots=True)
class Section:
    heading: str
    body: str = ""
    source_ids: dict[UUID, None] = field(default_factory=dict)


@dataclass(slots=True)
class Page:
    card: PageCard
    sections: dict[str, Section] = field(default_factory=dict)

    def markdown(self) -> str:
        """Return the page as Markdown."""
        card = self.card
        head = f"# {card.title}\n\n*{card.type}* — {card.summary or ''}\naliases: {', '.join(sorted(card.aliases))}"
        if card.tags:
            head += f"\ntags: {', '.join(card.tags)}"
        return "\n\n".join([head, *(f"## {section.heading}\n\n{section.body}" for section in self.sections.values())])


class MemoryWiki:
    """Applies plans as a compile job does: pages and mentions first, then the text of sections with new sources."""

    def __init__(self, planner: Planner, writer: SectionWriter) -> None:
        self.planner, self.writer = planner, writer
        self.by_id: dict[UUID, Page] = {}
        self.by_alias: dict[str, list[UUID]] = {}
        self.held: dict[str, MentionCard] = {}
        self.known: dict[UUID, SourceText] = {}
        self.by_word: dict[str, set[UUID]] = {}
        """The compiled sources with each word."""
        self.links: dict[tuple[UUID, UUID], dict[UUID, None]] = {}
        self.near: dict[UUID, dict[UUID, None]] = {}

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        return {
            alias: [self.by_id[id].card for id in self.by_alias[alias]] for alias in aliases if alias in self.by_alias
        }

    async def names(self, max_names: int) -> Collection[str] | None:
        return None if len(self.by_alias) > max_names else self.by_alias

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        return {alias: self.held[alias] for alias in aliases if alias in self.held}

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        return {id: self.known[id] for id in ids if id in self.known}

    async def sources_with(self, names: Collection[str], max_sources: int) -> Mapping[str, Sequence[UUID]]:
        return {name: self._newest(said, max_sources) for name in names if (said := words(name))}

    def _newest(self, said: Sequence[str], max_sources: int) -> list[UUID]:
        """Return the newest sources with all of these words."""
        found = set.intersection(*(self.by_word.get(word, set()) for word in said))
        return sorted(found, key=lambda found_id: (self.known[found_id].captured_at, found_id), reverse=True)[
            :max_sources
        ]

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        return {id: Citations(self._cited(id)) for id in page_ids if id in self.by_id}

    def _cited(self, page_id: UUID) -> tuple[UUID, ...]:
        return tuple({id: None for section in self.by_id[page_id].sections.values() for id in section.source_ids})

    async def compile(self, sources: Sequence[SourceText], batch: int = 50) -> None:
        for start in range(0, len(sources), batch):
            part = sources[start : start + batch]
            self.known.update({source.id: source for source in part})
            await self.apply(await self.planner.plan(part, self))
            for source in part:
                for word in set(words(source.content)):
                    self.by_word.setdefault(word, set()).add(source.id)

    async def apply(self, plan: Plan) -> None:
        for held in plan.held:
            self._hold(held)
        news = [(self._make(page), page.sections) for page in plan.new_pages]
        news += [(self._update(update), update.sections) for update in plan.updates]
        for link in plan.links:
            start, end = self._id(link.start), self._id(link.end)
            assert start != end
            self.links.setdefault((start, end), {}).update(dict.fromkeys(link.source_ids))
            self.near.setdefault(start, {})[end] = None
        for page, sections in news:
            for section in sections:
                self._cite(page, section)
            for section in sections:
                await self._write(page, section)
        for merge in plan.merges:
            self._merge(merge)

    def _merge(self, merge: PageMerge) -> None:
        gone, into = self.by_id.pop(merge.from_id), self.by_id[merge.into_id]
        for slug, section in gone.sections.items():
            into.sections.setdefault(slug, section)
        for ids in self.by_alias.values():
            ids[:] = dict.fromkeys(into.card.id if id == gone.card.id else id for id in ids)
        into.card = replace(
            into.card, aliases=into.card.aliases | gone.card.aliases, section_slugs=tuple(into.sections)
        )
        for start, end in [pair for pair in self.links if gone.card.id in pair]:
            self.links.pop((start, end))
        self.near.pop(gone.card.id, None)
        for ends in self.near.values():
            ends.pop(gone.card.id, None)

    @property
    def all(self) -> list[Page]:
        return sorted(self.by_id.values(), key=lambda page: (page.card.type, normalise(page.card.title)))

    def _hold(self, held: HeldName) -> None:
        alias, at = normalise(held.name), self.known[held.source_id].captured_at
        card = self.held.get(alias) or MentionCard(alias, held.name, "open", None, (), ())
        if held.source_id not in card.source_ids:
            seen = sorted([*zip(card.seen_at, card.source_ids, strict=True), (at, held.source_id)])
            card = replace(card, source_ids=tuple(id for _, id in seen), seen_at=tuple(at for at, _ in seen))
        self.held[alias] = replace(card, suggested_type=held.suggested_type, cluster=held.cluster)

    def _make(self, new: NewPage) -> Page:
        slug = self._free(new)
        aliases = frozenset(filter(None, map(normalise, (new.title, *new.aliases))))
        card = PageCard(
            uuid5(NAMESPACE, f"{new.type}/{slug}"), new.type, slug, new.title, new.summary, aliases, new.tags
        )
        page = self.by_id[card.id] = Page(card)
        self._name(card, aliases)
        for alias in new.promotes:
            self.held[alias] = replace(self.held[alias], status="promoted")
        return page

    def _free(self, new: NewPage) -> str:
        try:
            slug = slugify(new.title)
        except NoSlug:
            slug = "page"
        taken = {(page.card.type, page.card.slug) for page in self.by_id.values()}
        candidates = (numbered_slug(slug, n) if n > 1 else slug for n in range(1, 1000))
        return next(candidate for candidate in candidates if (new.type, candidate) not in taken)

    def _update(self, update: PageUpdate) -> Page:
        page = self.by_id[update.page_id]
        added = frozenset(filter(None, map(normalise, update.aliases)))
        card = page.card
        page.card = replace(
            card, summary=update.summary or card.summary, aliases=card.aliases | added, tags=(*card.tags, *update.tags)
        )
        self._name(page.card, added - card.aliases)
        return page

    def _name(self, card: PageCard, aliases: Iterable[str]) -> None:
        for alias in aliases:
            self.by_alias.setdefault(alias, []).append(card.id)

    def _id(self, name: PageName) -> UUID:
        if name.id:
            return name.id
        return next(
            page.card.id for page in self.by_id.values() if (page.card.type, page.card.title) == (name.type, name.title)
        )

    @staticmethod
    def _cite(page: Page, proposal: SectionProposal) -> None:
        section = page.sections.setdefault(proposal.slug, Section(proposal.heading or proposal.slug))
        section.source_ids.update(dict.fromkeys(proposal.source_ids))

    async def _write(self, page: Page, proposal: SectionProposal) -> None:
        section = page.sections[proposal.slug]
        near = [self.by_id[end].card for end in self.near.get(page.card.id, ())]
        card = page.card
        task = SectionTask(
            card.type, card.title, card.aliases, proposal.slug, section.heading, section.body,
            tuple(self.known[id] for id in section.source_ids),
            tuple((card.title, card.type, card.slug) for card in near),
            earlier=tuple(
                (slug, tuple(self.known[id] for id in page.sections[slug].source_ids))
                for slug in EARLIER.get(proposal.slug, LEADING) if slug in page.sections
            ),
        )  # fmt: skip
        section.body = await self.writer.write(task)
        if not section.body:
            del page.sections[proposal.slug]
        page.card = replace(card, section_slugs=tuple(page.sections))
