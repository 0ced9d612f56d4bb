"""Composing rebuilt pages: all sections that cite sources, or only those that cited forgotten sources.

Like a plan, pages are composed twice: outside of any write transaction, to find what has to be written, and under the
wiki's write lock, where the texts are ready.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from content.markdown.sections import Section
from content.search.words import words
from lib.threads import offload
from resolvers.errors import BadInput
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from ..link.texts import PageLinks
from ..metrics import Metrics
from ..plan.pages import PagePlan
from ..plan.validation import Guard
from ..planner import SectionTask, SourceText
from ..quoting import bullet, mark_label
from ..read.evidence import Evidence, Forgotten, SectionKey, find_section_keys, lost_words, oldest_first
from ..read.stored import find_compiled_summaries
from ..write.corrections import find_known, without_superseded
from ..write.tasks import TaskKey, key_of

QUOTED_MAX = 12  # sources that are quoted in a section for which the writer returned no text

SummaryKey = tuple[UUID, tuple[UUID, ...]]
"""A page and the sources that it cites."""


@dataclass(slots=True)
class Drafts:
    """The texts and summaries that were written and planned before the transaction."""

    texts: dict[TaskKey, str] = field(default_factory=dict)
    summaries: dict[SummaryKey, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RebuiltPage:
    """A page before and after it was rebuilt."""

    before: Page
    after: Page
    sources: int
    """The number of sources that it cites."""
    lost_words: frozenset[str] = frozenset()
    """The words of forgotten sources that neither its new sections nor its remaining sources have."""


@dataclass(frozen=True, slots=True)
class RebuildResult:
    """The rebuilt pages. They may be stored only if no text is `missing` and no page is `unsummarised`."""

    missing: Mapping[TaskKey, SectionTask]
    unsummarised: Mapping[SummaryKey, tuple[Page, tuple[SourceText, ...]]]
    pages: tuple[RebuiltPage, ...] = ()


async def rebuild_pages(
    reader: Writer, page_ids: Collection[UUID], drafts: Drafts, metrics: Metrics, forgotten: Forgotten
) -> RebuildResult:
    """Compose the rebuilt pages from the present state of the wiki and the drafts, or return which drafts are
    missing."""
    pages = await find_pages(reader, page_ids)
    section_keys = await find_section_keys(reader, page_ids, forgotten)
    evidence = await Evidence.read(reader, page_ids)
    tasks = {
        section_key: evidence.task(pages[section_key[0]], section_key[1])
        for section_key in section_keys
        if evidence.cited.get(section_key)
    }
    missing = {key: task for task in tasks.values() if (key := key_of(task)) not in drafts.texts}
    compiled = await find_compiled_summaries(reader, [page.id for page in pages.values() if page.summary])
    sums = {
        id: (id, tuple(source.id for source in evidence.of_page(id)))
        for id in compiled | pages_to_summarise(section_keys, forgotten)
    }
    unsummarised = {key: (pages[id], evidence.of_page(id)) for id, key in sums.items() if key not in drafts.summaries}
    if missing or unsummarised:
        return RebuildResult(missing, unsummarised)
    links = PageLinks(Guard(evidence.sources, pages, metrics), [PagePlan(page, False) for page in pages.values()])
    known = await find_known(reader, pages)
    captured_at = {mark_label(source): source.captured_at for source in evidence.sources.values()}
    written = {
        section_key: without_superseded(drafts.texts[key_of(task)], known.get(section_key[0], ()), captured_at)
        for section_key, task in tasks.items()
    }
    await links.look_up(reader, written.values())
    rebuilt = []
    for page in pages.values():
        sections = await rewrite_sections(page, section_keys, written, links, evidence, forgotten)
        lost = await offload(len(page.body), lost_words, forgotten, evidence.of_page(page.id), sections)
        planned = drafts.summaries.get(sums.get(page.id, (page.id, ())))
        summary = next_summary(page, planned, lost - forgotten.stop_words, page.id in compiled)
        tags = tuple(tag for tag in page.tags if lost.isdisjoint(words(tag)))
        after = replace(page, sections=sections, summary=summary, tags=tags)
        rebuilt.append(RebuiltPage(page, after, len(evidence.of_page(page.id)), lost))
    return RebuildResult({}, {}, tuple(rebuilt))


def pages_to_summarise(section_keys: Collection[SectionKey], forgotten: Forgotten) -> set[UUID]:
    """Return the pages that cited forgotten sources. Their summaries may repeat these sources, whoever wrote them."""
    return {page_id for page_id, _ in section_keys} if forgotten.ids else set()


async def rewrite_sections(
    page: Page,
    section_keys: Collection[SectionKey],
    written: Mapping[SectionKey, str],
    links: PageLinks,
    evidence: Evidence,
    forgotten: Forgotten,
) -> outline.Outline:
    """Return the sections of the page with the written texts.

    If sources are forgotten, a section for which the writer returned no text quotes its remaining sources, and a
    section without remaining sources is removed.
    """
    sections = page.sections
    for section in page.sections:
        section_key = page.id, section.slug
        if section_key not in section_keys:
            continue
        body = written.get(section_key, "").strip()
        if not body and forgotten.ids and section_key in written:
            body = "\n".join(quotations(evidence, section_key))
        merged = await with_text(page, sections, section, links.link_text(body, page.id), links.guard) if body else None
        if merged is not None:
            sections = merged
        elif forgotten.ids:
            sections = tuple(other for other in sections if other.slug != section.slug)
    return sections


def quotations(evidence: Evidence, section_key: SectionKey) -> list[str]:
    """Return lines that quote the beginnings of the newest sources of a section."""
    newest = oldest_first(evidence.sources[id] for id in evidence.cited[section_key])[::-1]
    return [bullet(source, (" ".join(source.content.split()),)) for source in newest[:QUOTED_MAX]]


async def with_text(
    page: Page, sections: outline.Outline, old: Section, body: str, guard: Guard
) -> outline.Outline | None:
    """Return the sections with this text in place of the old one, or None if it is not valid."""
    draft = SectionDraft(body, old.slug)
    try:
        return await offload(outline.size(sections, [draft]), outline.merge_drafts, page.type, sections, [draft])
    except BadInput as error:
        guard.drop("bad_section", f"{page.title}: {error.message}")
        return None


def next_summary(page: Page, planned: str | None, lost: frozenset[str], is_compiled: bool) -> str | None:
    """Return the next summary of the page. A summary that a person wrote stays, unless it contains a lost word."""
    may_stay = page.summary is None or lost.isdisjoint(words(page.summary))
    if is_compiled or not may_stay:
        return planned or (page.summary if may_stay else None)
    return page.summary
