"""The tasks of a section writer, made from a plan and the present state of the wiki."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID

from resolvers.model import outline
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..plan.pages import PagePlan
from ..planner import EARLIER, LEADING, SectionTask
from ..read.source_texts import TEXTS, Facts

RELATED_MAX = 50

TaskKey = tuple[Any, ...]
"""The identity of a task: equal keys mean equal tasks, so a text that was written for one fits the other."""
SectionKey = tuple[UUID, str]
"""A section: the id of its page, and its slug."""
Title = tuple[str, str, str]
"""A page: its title, type and slug."""


class Ranked(NamedTuple):
    """Rows of sources, and the rank of each by age, the oldest first."""

    facts: Facts
    ranks: Mapping[UUID, int]


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A section to be written: a task without the texts of its sources. Sources are in order, the oldest first."""

    page: Page
    is_new: bool
    known_aliases: frozenset[str]
    slug: str
    heading: str
    body: str
    source_ids: tuple[UUID, ...]
    digests: tuple[int, ...]
    related: tuple[Title, ...]
    earlier: tuple[tuple[str, tuple[UUID, ...]], ...]

    @property
    def needed_sources(self) -> Iterator[UUID]:
        """Yield the sources whose texts the task needs."""
        return chain(self.source_ids, *(ids for _, ids in self.earlier))

    @property
    def key(self) -> TaskKey:
        """Return the key of the task."""
        page = self.page
        section = (page.type, page.title, self.known_aliases, self.slug, self.heading, self.body)
        return (*section, self.source_ids, self.digests, self.related, self.earlier)


def drafts_of(
    page_plans: Collection[PagePlan], cited: Mapping[SectionKey, Collection[UUID]], facts: Facts
) -> dict[SectionKey, TaskDraft]:
    """Return a draft of every section that is to be written, by its key."""
    oldest_first = sorted(facts, key=lambda key: (facts[key]["captured_at"], facts[key]["ref"], key))
    ranked = Ranked(facts, {source_id: rank for rank, source_id in enumerate(oldest_first)})
    titles = [
        (planned.page.id, (planned.page.title, planned.page.type, planned.page.slug))
        for planned in islice(page_plans, RELATED_MAX + 1)
    ]
    return {
        (planned.page.id, draft.slug): draft
        for planned in page_plans
        for draft in drafts_on(planned, cited, ranked, titles)
    }


def drafts_on(
    planned: PagePlan,
    cited: Mapping[SectionKey, Collection[UUID]],
    ranked: Ranked,
    titles: Sequence[tuple[UUID, Title]],
) -> Iterator[TaskDraft]:
    """Yield the drafts of one page."""
    others = tuple(islice((title for page_id, title in titles if page_id != planned.page.id), RELATED_MAX))
    present = {section.slug: section for section in planned.page.sections}
    sources = {
        slug: sources_of(planned, slug, cited, ranked) for slug in {*planned.sections, *LEADING, *EARLIER["recent"]}
    }
    for slug, proposal in planned.sections.items():
        before = present.get(slug)
        source_ids = sources[slug]
        earlier = tuple((other, sources[other]) for other in EARLIER.get(slug, LEADING) if sources[other])
        yield TaskDraft(
            page=planned.page,
            is_new=planned.is_new,
            known_aliases=planned.all_aliases,
            slug=slug,
            heading=before.heading if before else proposal.heading or outline.default_heading(planned.page.type, slug),
            body=before.body if before else "",
            source_ids=source_ids,
            digests=tuple(ranked.facts[id]["digest"] for id in chain(source_ids, *(ids for _, ids in earlier))),
            related=others,
            earlier=earlier,
        )


def sources_of(
    planned: PagePlan, slug: str, cited: Mapping[SectionKey, Collection[UUID]], ranked: Ranked
) -> tuple[UUID, ...]:
    """Return the sources that a section cites and those that the plan cites for it, the oldest first."""
    new = planned.sections[slug].source_ids if slug in planned.sections else ()
    ids = {*cited.get((planned.page.id, slug), ()), *new}
    return tuple(sorted(ids & ranked.ranks.keys(), key=ranked.ranks.__getitem__))


def key_of(task: SectionTask) -> TaskKey:
    """Return the key of a task whose source texts are known."""
    ids = tuple(source.id for source in task.sources)
    section = (task.page_type, task.page_title, task.page_aliases, task.slug, task.heading, task.body)
    earlier = tuple((slug, tuple(source.id for source in sources)) for slug, sources in task.earlier)
    return (*section, ids, task.related, earlier)


async def tasks_of(
    reader: Writer, drafts: Mapping[TaskKey, TaskDraft], facts: Facts, synthesised: Collection[UUID]
) -> dict[TaskKey, SectionTask]:
    """Return the tasks of these drafts with the texts of their sources. `synthesised` are the pages with a
    synthesis."""
    wanted = {id: facts[id] for draft in drafts.values() for id in draft.needed_sources}
    texts = await TEXTS.of(reader, wanted)
    return {
        key: SectionTask(
            page_type=draft.page.type,
            page_title=draft.page.title,
            page_aliases=draft.known_aliases,
            slug=draft.slug,
            heading=draft.heading,
            body=draft.body,
            sources=tuple(texts[id] for id in draft.source_ids if id in texts),
            related=draft.related,
            earlier=tuple((slug, tuple(texts[id] for id in ids if id in texts)) for slug, ids in draft.earlier),
            page_id=None if draft.is_new else draft.page.id,
            is_synthesis=draft.page.id in synthesised,
        )
        for key, draft in drafts.items()
    }
