"""Pages made again from what they cite: all that rests on sources, or what rested on some that are forgotten.

Like a plan it is done twice: outside of any transaction it says what has to be written, inside everything is ready.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from content.markdown.sections import Section
from content.search.words import words
from lib.threads import read_in_thread
from resolvers.errors import BadInput
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from ..link.texts import PageLinks
from ..metrics import Metrics
from ..plan.pages import Work
from ..plan.validation import Guard
from ..planner import SectionTask, SourceText
from ..quoting import bullet, mark_label
from ..read.evidence import Evidence, Gone, Place, find_places, in_time, lost_words
from ..read.stored import find_compiled_summaries
from ..write.corrections import find_known, without_superseded
from ..write.tasks import TaskKey, key_of

QUOTED_MAX = 12  # sources that are quoted where the writer had nothing to say of them

SummaryKey = tuple[UUID, tuple[UUID, ...]]


@dataclass(slots=True)
class Drafts:
    """The texts and summaries that were written and planned outside of the transaction."""

    texts: dict[TaskKey, str] = field(default_factory=dict)
    summaries: dict[SummaryKey, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remade:
    """A page before and after. `gone_words` are those that nothing which it still rests on says."""

    before: Page
    after: Page
    sources: int
    gone_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Remaking:
    """Pages made again, not whole while there is something to be written or summed up."""

    missing: Mapping[TaskKey, SectionTask]
    unsummed: Mapping[SummaryKey, tuple[Page, tuple[SourceText, ...]]]
    pages: tuple[Remade, ...] = ()


async def rebuild_pages(
    reader: Writer, page_ids: Collection[UUID], drafts: Drafts, metrics: Metrics, gone: Gone
) -> Remaking:
    """Return the next states of these pages, as the wiki is now."""
    pages = await find_pages(reader, page_ids)
    wanted = await find_places(reader, page_ids, gone)
    evidence = await Evidence.read(reader, page_ids)
    tasks = {place: evidence.task(pages[place[0]], place[1]) for place in wanted if evidence.cited.get(place)}
    missing = {key: task for task in tasks.values() if (key := key_of(task)) not in drafts.texts}
    compiled = await find_compiled_summaries(reader, [page.id for page in pages.values() if page.summary])
    sums = {id: (id, tuple(source.id for source in evidence.of_page(id))) for id in compiled | ids_of(wanted, gone)}
    unsummed = {key: (pages[id], evidence.of_page(id)) for id, key in sums.items() if key not in drafts.summaries}
    if missing or unsummed:
        return Remaking(missing, unsummed)
    links = PageLinks(Guard(evidence.sources, pages, metrics), [Work(page, False) for page in pages.values()])
    known = await find_known(reader, pages)
    at = {mark_label(one): one.captured_at for one in evidence.sources.values()}
    written = {
        place: without_superseded(drafts.texts[key_of(task)], known.get(place[0], ()), at)
        for place, task in tasks.items()
    }
    await links.look_up(reader, written.values())
    remade = []
    for page in pages.values():
        sections = await rewritten(page, wanted, written, links, evidence, gone)
        lost = await read_in_thread(len(page.body), lost_words, gone, evidence.of_page(page.id), sections)
        summary = next_summary(page, drafts.summaries.get(sums.get(page.id, (page.id, ()))), lost, page.id in compiled)
        tags = tuple(tag for tag in page.tags if lost.isdisjoint(words(tag)))
        after = replace(page, sections=sections, summary=summary, tags=tags)
        remade.append(Remade(page, after, len(evidence.of_page(page.id)), lost))
    return Remaking({}, {}, tuple(remade))


def ids_of(places: Collection[Place], gone: Gone) -> set[UUID]:
    """Return the pages that lose something: whoever summed them up may have known it from there."""
    return {page_id for page_id, _ in places} if gone.ids else set()


async def rewritten(
    page: Page,
    wanted: Collection[Place],
    written: Mapping[Place, str],
    links: PageLinks,
    evidence: Evidence,
    gone: Gone,
) -> outline.Outline:
    """Return the sections as their sources have them; what has none left is left out."""
    sections = page.sections
    for section in page.sections:
        place = page.id, section.slug
        if place not in wanted:
            continue
        body = written.get(place, "").strip()
        if not body and gone.ids and place in written:
            body = "\n".join(quotations(evidence, place))
        made = await with_text(page, sections, section, links.link_text(body, page.id), links.guard) if body else None
        if made is not None:
            sections = made
        elif gone.ids:
            sections = tuple(other for other in sections if other.slug != section.slug)
    return sections


def quotations(evidence: Evidence, place: Place) -> list[str]:
    """Quote the beginnings of the newest sources of a section whose writer finds nothing in what is left."""
    newest = in_time(evidence.sources[id] for id in evidence.cited[place])[::-1]
    return [bullet(source, (" ".join(source.content.split()),)) for source in newest[:QUOTED_MAX]]


async def with_text(
    page: Page, sections: outline.Outline, old: Section, body: str, guard: Guard
) -> outline.Outline | None:
    """Return the sections with this text; None when it cannot stand there."""
    draft = SectionDraft(body, old.slug)
    try:
        return await read_in_thread(outline.size(sections, [draft]), outline.merge_drafts, page.type, sections, [draft])
    except BadInput as error:
        guard.drop("bad_section", f"{page.title}: {error.message}")
        return None


def next_summary(page: Page, planned: str | None, lost: frozenset[str], is_compiled: bool) -> str | None:
    """Return the next summary: what a person wrote stays as long as none of it is forgotten."""
    stays = page.summary is None or lost.isdisjoint(words(page.summary))
    if is_compiled or not stays:
        return planned or (page.summary if stays else None)
    return page.summary
