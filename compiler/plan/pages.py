"""The pages that a plan is about, new ones and known ones, each once, with all that the plan asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from content.names import normalise
from db.ids import new_id
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import NewPage, PageUpdate, Plan, SectionProposal
from ..read.stored import find_cards, find_mentions, find_rollups, find_synthesised
from .validation import Guard, match


@dataclass(slots=True)
class Work:
    """A page that the plan is about, and all that it asks for it."""

    page: Page
    is_new: bool
    summary: str | None = None
    aliases: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    sections: dict[str, SectionProposal] = field(default_factory=dict)
    promotes: list[str] = field(default_factory=list)
    known_aliases: frozenset[str] = frozenset()

    @property
    def source_ids(self) -> set[UUID]:
        """Return the sources that the plan cites for the page."""
        return {source_id for section in self.sections.values() for source_id in section.source_ids}

    @property
    def all_aliases(self) -> frozenset[str]:
        """Return the normalised names of the page with those that the plan adds."""
        return self.known_aliases.union(filter(None, map(normalise, self.aliases)))

    def take(self, proposal: NewPage | PageUpdate) -> None:
        """Add a proposal: two for one page are one, whose sections and sources add up."""
        self.summary = self.summary or proposal.summary
        self.aliases += proposal.aliases
        self.tags += proposal.tags
        for section in proposal.sections:
            before = self.sections.get(section.slug)
            ids = (*before.source_ids, *section.source_ids) if before else section.source_ids
            heading = (before and before.heading) or section.heading
            self.sections[section.slug] = SectionProposal(section.slug, tuple(dict.fromkeys(ids)), heading)


async def assign(
    reader: Writer, plan: Plan, guard: Guard, metrics: Metrics
) -> tuple[dict[UUID, Work], dict[tuple[str, str], UUID]]:
    """Return the work on each page, and which page (type, normalised title) means in this plan."""
    wanted, updates = guard.new_pages(plan), list(guard.updates(plan))
    matched = await match(reader, wanted, metrics)
    named = {alias for update in updates for name in update.aliases if (alias := normalise(name))}
    held = await find_mentions(
        reader, named | {name for page in wanted for name in (*page.page.promotes, page.aliases[0])}
    )
    ids = {id for id in matched if id} | {update.page_id for update in updates}
    pages, cards = await find_pages(reader, ids), await find_cards(reader, ids=ids)
    known = {card.id: card.aliases for card in cards}
    work: dict[UUID, Work] = {}
    names: dict[tuple[str, str], UUID] = {}
    for update in updates:
        work.setdefault(update.page_id, Work(pages[update.page_id], False, known_aliases=known[update.page_id]))
        work[update.page_id].take(update)
        work[update.page_id].promotes += [
            alias for name in update.aliases if (alias := normalise(name)) in held and held[alias].status == "open"
        ]
    for page, page_id in zip(wanted, matched, strict=True):
        place = page.page.type, page.slug
        page_id = page_id or next((names[key] for key in keys_of(page.page) if key in names), None)
        if page_id is None and (mention := held.get(page.aliases[0])) and mention.status == "ignored":
            guard.drop("ignored_name", page.page.title)
            continue
        if page_id is None:
            made = Page(id=new_id(), type=place[0], slug=place[1], title=page.page.title, sections=())
            page_id = made.id
            work[page_id] = Work(made, True, known_aliases=frozenset(page.aliases))
        elif page_id not in work:
            work[page_id] = Work(pages[page_id], False, known_aliases=known[page_id])
        one = work[page_id]
        one.take(page.page)
        if not one.is_new and normalise(page.page.title) not in one.known_aliases:
            one.aliases.append(page.page.title)
        for alias in page.page.promotes:
            if alias in held and held[alias].status == "open":
                one.promotes.append(alias)
                one.aliases.append(held[alias].name)
        names.update(dict.fromkeys(keys_of(page.page), page_id))
    return work, names


async def leave_lists(reader: Writer, work: Mapping[UUID, Work], guard: Guard) -> None:
    """Drop sections that list other pages: no writer writes those."""
    lists = await find_rollups(reader, [one.page.id for one in work.values() if not one.is_new])
    for page_id, slug in lists:
        if work[page_id].sections.pop(slug, None):
            guard.drop("rollup_section", (work[page_id].page.title, slug))


async def leave_thin_themes(reader: Writer, work: dict[UUID, Work], guard: Guard) -> None:
    """Drop new themes that cite too few sources: a theme is what several say together, so it never is a stub."""
    themes = {one.page.id: one.source_ids for one in work.values() if one.is_new and one.page.type == "theme"}
    for page_id in themes.keys() - await find_synthesised(reader, themes):
        guard.drop("too_few_sources", work.pop(page_id).page.title)


def keys_of(page: NewPage) -> list[tuple[str, str]]:
    """Return the names under which other parts of the plan may mean it."""
    return [(page.type, alias) for name in (page.title, *page.aliases) if (alias := normalise(name))]
