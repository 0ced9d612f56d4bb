"""The plan per page: all proposals of a plan for the same new or existing page, combined."""

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
class PagePlan:
    """Everything that a plan proposes for one page. `page` is the stored page, or a new one that has no section yet."""

    page: Page
    is_new: bool
    summary: str | None = None
    aliases: list[str] = field(default_factory=list)
    """The names to add, as they are written."""
    tags: list[str] = field(default_factory=list)
    sections: dict[str, SectionProposal] = field(default_factory=dict)
    promotes: list[str] = field(default_factory=list)
    """The normalised names of the mentions that become part of the page."""
    known_aliases: frozenset[str] = frozenset()
    """The normalised names that the page has already."""

    @property
    def source_ids(self) -> set[UUID]:
        """Return the sources that the plan cites for the page."""
        return {source_id for section in self.sections.values() for source_id in section.source_ids}

    @property
    def all_aliases(self) -> frozenset[str]:
        """Return the normalised names of the page, including those that the plan adds."""
        return self.known_aliases.union(filter(None, map(normalise, self.aliases)))

    def add(self, proposal: NewPage | PageUpdate) -> None:
        """Add a proposal. Two proposals for the same section become one that cites the sources of both."""
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
) -> tuple[dict[UUID, PagePlan], dict[tuple[str, str], UUID]]:
    """Return the plan for each page by its id, and the id of the page that each (type, normalised name) stands for.

    A proposed page is matched with a stored page, or with an earlier page of the same plan. A page whose name was
    ignored as a mention is dropped.
    """
    wanted, updates = guard.new_pages(plan), list(guard.updates(plan))
    matched = await match(reader, wanted, metrics)
    named = {alias for update in updates for name in update.aliases if (alias := normalise(name))}
    held = await find_mentions(
        reader, named | {name for page in wanted for name in (*page.page.promotes, page.aliases[0])}
    )
    ids = {id for id in matched if id} | {update.page_id for update in updates}
    pages, cards = await find_pages(reader, ids), await find_cards(reader, ids=ids)
    known = {card.id: card.aliases for card in cards}
    page_plans: dict[UUID, PagePlan] = {}
    names: dict[tuple[str, str], UUID] = {}
    for update in updates:
        page_plans.setdefault(
            update.page_id, PagePlan(pages[update.page_id], False, known_aliases=known[update.page_id])
        )
        page_plans[update.page_id].add(update)
        page_plans[update.page_id].promotes += [
            alias for name in update.aliases if (alias := normalise(name)) in held and held[alias].status == "open"
        ]
    for page, page_id in zip(wanted, matched, strict=True):
        page_id = page_id or next((names[key] for key in keys_of(page.page) if key in names), None)
        if page_id is None and (mention := held.get(page.aliases[0])) and mention.status == "ignored":
            guard.drop("ignored_name", page.page.title)
            continue
        if page_id is None:
            new_page = Page(id=new_id(), type=page.page.type, slug=page.slug, title=page.page.title, sections=())
            page_id = new_page.id
            page_plans[page_id] = PagePlan(new_page, True, known_aliases=frozenset(page.aliases))
        elif page_id not in page_plans:
            page_plans[page_id] = PagePlan(pages[page_id], False, known_aliases=known[page_id])
        planned = page_plans[page_id]
        planned.add(page.page)
        if not planned.is_new and normalise(page.page.title) not in planned.known_aliases:
            planned.aliases.append(page.page.title)
        for alias in page.page.promotes:
            if alias in held and held[alias].status == "open":
                planned.promotes.append(alias)
                planned.aliases.append(held[alias].name)
        names.update(dict.fromkeys(keys_of(page.page), page_id))
    return page_plans, names


async def drop_rollups(reader: Writer, page_plans: Mapping[UUID, PagePlan], guard: Guard) -> None:
    """Drop rollup sections from the plans, because section writers do not write them."""
    lists = await find_rollups(reader, [planned.page.id for planned in page_plans.values() if not planned.is_new])
    for page_id, slug in lists:
        if page_plans[page_id].sections.pop(slug, None):
            guard.drop("rollup_section", (page_plans[page_id].page.title, slug))


async def drop_thin_themes(reader: Writer, page_plans: dict[UUID, PagePlan], guard: Guard) -> None:
    """Drop new themes that cite too few sources for a synthesis. A theme sums up several sources, so it is no stub."""
    themes = {
        planned.page.id: planned.source_ids
        for planned in page_plans.values()
        if planned.is_new and planned.page.type == "theme"
    }
    for page_id in themes.keys() - await find_synthesised(reader, themes):
        guard.drop("too_few_sources", page_plans.pop(page_id).page.title)


def keys_of(page: NewPage) -> list[tuple[str, str]]:
    """Return the (type, normalised name) pairs by which links of the plan may refer to the page."""
    return [(page.type, alias) for name in (page.title, *page.aliases) if (alias := normalise(name))]
