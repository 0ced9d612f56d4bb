"""Tasks for a section writer, made of what the wiki has now."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID

from resolvers.model import outline
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..plan.pages import Work
from ..planner import EARLIER, LEADING, SectionTask
from ..read.source_texts import TEXTS, Facts

RELATED_MAX = 50

TaskKey = tuple[Any, ...]
Place = tuple[UUID, str]
"""Page and section slug."""
Title = tuple[str, str, str]
"""Title, type and slug."""


class Ranked(NamedTuple):
    """Sources, and the place of each, the oldest first."""

    facts: Facts
    places: Mapping[UUID, int]


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A section to be written, but for what its sources say. They stand oldest first."""

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
    def read(self) -> Iterator[UUID]:
        """Yield the sources whose texts a writer needs."""
        return chain(self.source_ids, *(ids for _, ids in self.earlier))

    @property
    def key(self) -> TaskKey:
        """Return a key of the draft: the same key, the same text."""
        page = self.page
        told = (page.type, page.title, self.known_aliases, self.slug, self.heading, self.body)
        return (*told, self.source_ids, self.digests, self.related, self.earlier)


def drafts_of(work: Collection[Work], cited: Mapping[Place, Collection[UUID]], facts: Facts) -> dict[Place, TaskDraft]:
    """Return a draft of every section that is to be written: the section, and all that it rests on."""
    oldest_first = sorted(facts, key=lambda one: (facts[one]["captured_at"], facts[one]["ref"], one))
    ranked = Ranked(facts, {source_id: rank for rank, source_id in enumerate(oldest_first)})
    titles = [(one.page.id, (one.page.title, one.page.type, one.page.slug)) for one in islice(work, RELATED_MAX + 1)]
    return {(one.page.id, draft.slug): draft for one in work for draft in drafts_on(one, cited, ranked, titles)}


def drafts_on(
    one: Work, cited: Mapping[Place, Collection[UUID]], ranked: Ranked, titles: Sequence[tuple[UUID, Title]]
) -> Iterator[TaskDraft]:
    """Yield the drafts of one page."""
    others = tuple(islice((title for page_id, title in titles if page_id != one.page.id), RELATED_MAX))
    there = {section.slug: section for section in one.page.sections}
    rests_on = {slug: resting(one, slug, cited, ranked) for slug in {*one.sections, *LEADING, *EARLIER["recent"]}}
    for slug, proposal in one.sections.items():
        before = there.get(slug)
        read = rests_on[slug]
        earlier = tuple((other, rests_on[other]) for other in EARLIER.get(slug, LEADING) if rests_on[other])
        yield TaskDraft(
            page=one.page,
            is_new=one.is_new,
            known_aliases=one.all_aliases,
            slug=slug,
            heading=before.heading if before else proposal.heading or outline.usual_heading(one.page.type, slug),
            body=before.body if before else "",
            source_ids=read,
            digests=tuple(ranked.facts[id]["digest"] for id in chain(read, *(ids for _, ids in earlier))),
            related=others,
            earlier=earlier,
        )


def resting(one: Work, slug: str, cited: Mapping[Place, Collection[UUID]], ranked: Ranked) -> tuple[UUID, ...]:
    """Return the sources that a section rests on, and those that are new to it, the oldest first."""
    new = one.sections[slug].source_ids if slug in one.sections else ()
    ids = {*cited.get((one.page.id, slug), ()), *new}
    return tuple(sorted(ids & ranked.places.keys(), key=ranked.places.__getitem__))


def key_of(task: SectionTask) -> TaskKey:
    """Return a key of a task whose source texts are known: the same key, the same text."""
    ids = tuple(source.id for source in task.sources)
    told = (task.page_type, task.page_title, task.page_aliases, task.slug, task.heading, task.body, ids, task.related)
    return (*told, tuple((slug, tuple(source.id for source in sources)) for slug, sources in task.earlier))


async def tasks_of(
    reader: Writer, drafts: Mapping[TaskKey, TaskDraft], facts: Facts, synthesised: Collection[UUID]
) -> dict[TaskKey, SectionTask]:
    """Return the tasks of these drafts, with what their sources say; `synthesised` pages get a text of their own."""
    wanted = {id: facts[id] for draft in drafts.values() for id in draft.read}
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
