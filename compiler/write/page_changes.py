"""A plan made into the next states of pages: what is there, what is written, what is cited. Nothing is stored here.

It is done twice. The first time, outside of any transaction, says which sections have to be written; the second, alone
in the wiki, finds their texts ready. If the wiki changed in between, what changed is written anew and it is done again.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from uuid import UUID

from rapidfuzz.distance import Levenshtein

from content.claims.corrections import Verdict
from content.limits import ALIASES, TAGS
from content.names import normalise
from content.templates import TEMPLATES
from db.connection import Row
from lib.threads import read_in_thread
from resolvers.errors import BadInput
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..link.texts import PageLinks
from ..metrics import Metrics
from ..plan.pages import Work, assign, leave_lists, leave_thin_themes
from ..plan.validation import Guard
from ..planner import EARLIER, Disputed, HeldName, NewPage, PageName, PageUpdate, Plan, SectionTask
from ..quoting import find_refs
from ..read.evidence import with_standing
from ..read.source_texts import TEXTS, find_facts
from ..read.stored import CITED_MAX, find_cards, find_citations, find_compiled_summaries, find_synthesised
from .contradictions import contradictions_in, find_recorded
from .corrections import (
    Corrected,
    Known,
    Verdicts,
    correct_sections,
    corrections_of,
    find_known,
    foremost,
    labels_of,
    times_of,
    without_superseded,
)
from .tasks import TaskKey, drafts_of, tasks_of

CHANGE_LEAST = 0.05

Texts = Mapping[TaskKey, str]


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page before and after. `cited` are the sources of each section that the plan cites for it."""

    before: Page | None
    after: Page
    aliases: tuple[str, ...]
    promotes: tuple[str, ...]
    cited: Mapping[str, tuple[UUID, ...]]


@dataclass(frozen=True, slots=True)
class Composition:
    """Everything to be stored for a batch. While something is `missing` or `unjudged` it is not whole."""

    missing: Mapping[TaskKey, SectionTask]
    unjudged: tuple[Disputed, ...] = ()
    changes: tuple[PageChange, ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    contradictions: tuple[Mapping[str, Any], ...] = ()
    held: tuple[HeldName, ...] = ()
    links: tuple[tuple[UUID, UUID], ...] = ()
    sources: Mapping[UUID, Row] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)


async def compose(
    reader: Writer,
    plan: Plan,
    texts: Texts,
    sources_max: int = CITED_MAX,
    *,
    reads_again: bool = False,
    judged: Mapping[tuple[str, str], Verdict] | None = None,
) -> Composition:
    """Compose the next state of the wiki from what it is now; `texts` are the sections that were written already.

    A writer is given the `sources_max` newest sources of a section besides the new ones; one that `reads_again`, those
    that its lines name, too. `judged` are the verdicts of a judge on corrections; without them the rules judge.
    """
    metrics = Metrics()
    metrics.use(plan.usage)
    for reason, times in plan.dropped.items():
        metrics.drop(reason, times)
    facts = await find_facts(reader, cited_ids(plan))
    cards = {card.id: card for card in await find_cards(reader, ids=pages_in(plan))}
    guard = Guard(facts.keys(), cards.keys(), metrics)
    work, names = await assign(reader, plan, guard, metrics)
    await leave_lists(reader, work, guard)
    await leave_thin_themes(reader, work, guard)
    cited = await find_citations(
        reader,
        [(one.page.id, slug) for one in work.values() for slug in {*one.sections, *EARLIER["recent"]}],
        sources_max,
    )
    facts |= await find_facts(reader, {id for ids in cited.values() for id in ids} - facts.keys())
    if reads_again:
        cited = await with_standing(reader, work.values(), cited, facts)
        facts |= await find_facts(reader, {id for ids in cited.values() for id in ids} - facts.keys())
    drafts = drafts_of(work.values(), cited, facts)
    keys = {place: draft.key for place, draft in drafts.items()}
    missing = {keys[place]: draft for place, draft in drafts.items() if keys[place] not in texts}
    if missing:
        synthesised = await find_synthesised(reader, {one.page.id: one.source_ids for one in work.values()})
        return Composition(await tasks_of(reader, missing, facts, synthesised), metrics=at_most(work.values()))
    links = PageLinks(guard, work.values())
    known = await find_known(reader, [one.page.id for one in work.values() if not one.is_new])
    moments = times_of(labels_of(facts))
    written = {place: without_superseded(texts[key], known.get(place[0], ()), moments) for place, key in keys.items()}
    await links.look_up(reader, written.values())
    compiled = await find_compiled_summaries(reader, [one.page.id for one in work.values() if one.page.summary])
    changes = [
        change
        for one in work.values()
        if (change := await apply_plan(one, written, links, guard, has_own_summary=one.page.id in compiled))
    ]
    verdicts = Verdicts(judged)
    changes, claims = await with_corrections(reader, changes, facts, known, verdicts)
    metrics.add("claims_superseded", len(claims))
    contradictions = await contradicting(reader, changes, facts)
    metrics.add("contradictions_found", len(contradictions))
    standing = {change.after.id for change in changes} | cards.keys()
    metrics.add("pages_created", sum(change.before is None for change in changes))
    return Composition(
        missing={},
        unjudged=tuple(verdicts.missing.values()),
        changes=tuple(changes),
        claims=tuple(claims),
        contradictions=tuple(contradictions),
        held=tuple(guard.held_names(plan)),
        links=tuple(dict.fromkeys(pairs(plan, guard, names, standing))),
        sources=facts,
        metrics=metrics,
    )


async def with_corrections(
    reader: Writer, changes: Sequence[PageChange], facts: Mapping[UUID, Row], known: Known, verdicts: Verdicts
) -> tuple[list[PageChange], list[Mapping[str, Any]]]:
    """Return the changes of pages with what newer sources override taken out, and the claims to be recorded."""
    new = {id for change in changes for ids in change.cited.values() for id in ids}
    sources = await TEXTS.of(reader, {id: facts[id] for id in new})
    labelled, found = labels_of(facts), list[PageChange]()
    claims: list[Mapping[str, Any]] = []
    corrections = {id: await corrections_of(source) for id, source in sources.items()}
    for change in changes:
        cited = dict.fromkeys(id for ids in change.cited.values() for id in ids if id in sources)
        candidates = foremost(chain.from_iterable(corrections[id] for id in cited))
        if candidates:
            page = change.after
            names = {page.title, *change.aliases}
            done = await correct_sections(
                page.id, page.sections, names, candidates, known.get(page.id, ()), labelled, verdicts
            )
            if done.claims:
                change, rows = with_claims(change, done)
                claims += rows
        found.append(change)
    return found, claims


async def contradicting(
    reader: Writer, changes: Sequence[PageChange], facts: Mapping[UUID, Row]
) -> list[Mapping[str, Any]]:
    """Return the contradictions between what pages cite anew and what else they state, to be recorded."""
    recorded = await find_recorded(reader, [change.after.id for change in changes if change.before])
    labelled, found = labels_of(facts), list[Mapping[str, Any]]()
    for change in changes:
        page, new = change.after, {id for ids in change.cited.values() for id in ids}
        names = {page.title, *change.aliases}
        found += await contradictions_in(page.id, page.sections, names, new, labelled, recorded)
    return found


def with_claims(change: PageChange, done: Corrected) -> tuple[PageChange, Sequence[Mapping[str, Any]]]:
    """Return the change with the corrected sections and their citations; as it was where these cannot stand."""
    try:
        sections = outline.checked_outline(done.sections, "sections", change.after.sections)
    except BadInput:
        return change, ()
    slugs = {section.slug for section in sections}
    cited = {
        slug: tuple(dict.fromkeys((*change.cited.get(slug, ()), *done.cited.get(slug, ()))))
        for slug in (*change.cited, *done.cited)
        if slug in slugs or slug in change.cited
    }
    return replace(change, after=replace(change.after, sections=sections), cited=cited), done.claims


def at_most(work: Collection[Work]) -> Metrics:
    """Count what a job does at most of what it is asked for: that is known before anything is written."""
    return Metrics(
        {"pages_created": sum(one.is_new for one in work), "sections_written": sum(len(one.sections) for one in work)}
    )


def cited_ids(plan: Plan) -> set[UUID]:
    """Return every source that a plan names."""
    proposals: tuple[NewPage | PageUpdate, ...] = (*plan.new_pages, *plan.updates)
    sections = (section for page in proposals for section in page.sections)
    cited = {id for section in sections for id in section.source_ids}
    return cited | {held.source_id for held in plan.held} | {id for link in plan.links for id in link.source_ids}


def pages_in(plan: Plan) -> set[UUID]:
    """Return every page that a plan names by its id."""
    ends = (end.id for link in plan.links for end in (link.start, link.end))
    return {update.page_id for update in plan.updates} | {id for id in ends if id}


async def apply_plan(
    one: Work, written: Mapping[tuple[UUID, str], str], links: PageLinks, guard: Guard, *, has_own_summary: bool
) -> PageChange | None:
    """Return the page with what was written; none for a new one of which nothing stands."""
    standing = {section.slug: section.body for section in one.page.sections}
    cited: dict[str, tuple[UUID, ...]] = {}
    drafts = []
    for slug in in_order(one.page.type, one.sections):
        await asyncio.sleep(0)  # of many short texts each is read at once, and others want the loop, too
        body, before, proposal = written[one.page.id, slug].strip(), standing.get(slug, ""), one.sections[slug]
        if not body:
            guard.drop("empty_section", (one.page.title, slug))
        elif before and not await read_in_thread(len(body) + len(before), differs, before, body):
            guard.metrics.add("sections_skipped")
            cited[slug] = proposal.source_ids
        else:
            drafts.append(SectionDraft(links.link_text(body, one.page.id), slug, None if before else proposal.heading))
    sections, kept = await merge_valid_drafts(one.page, drafts, guard)
    guard.metrics.add("sections_written", len(kept))
    cited |= {slug: one.sections[slug].source_ids for slug in kept}
    if one.is_new and not sections:
        return None
    if not one.is_new and not cited and one.sections:
        return None
    takes_summary = one.summary and (not one.page.summary or has_own_summary)
    after = replace(
        one.page,
        sections=sections,
        summary=one.summary if takes_summary else one.page.summary,
        tags=tuple(dict.fromkeys((*one.page.tags, *one.tags)))[: max(TAGS.most, len(one.page.tags))],
        status="active",
    )
    new_names = [name for name in one.aliases if normalise(name) not in one.known_aliases or one.is_new]
    room = max(0, ALIASES.most - 1 - len(one.known_aliases) * (not one.is_new))
    return PageChange(None if one.is_new else one.page, after, tuple(new_names[:room]), tuple(one.promotes), cited)


async def merge_valid_drafts(
    page: Page, drafts: Sequence[SectionDraft], guard: Guard
) -> tuple[outline.Outline, list[str]]:
    """Return the page's sections with these, and which can stand; one that cannot leaves the others as they are."""
    try:
        return await with_drafts(page, page.sections, drafts), [str(draft.slug) for draft in drafts]
    except BadInput:
        pass
    sections, kept = page.sections, []
    for draft in drafts:
        try:
            sections = await with_drafts(page, sections, [draft])
            kept.append(str(draft.slug))
        except BadInput as error:
            guard.drop("bad_section", f"{page.title}: {error.message}")
    return sections, kept


async def with_drafts(page: Page, sections: outline.Outline, drafts: Sequence[SectionDraft]) -> outline.Outline:
    if not drafts:
        return sections
    return await read_in_thread(outline.size(sections, drafts), outline.merge_drafts, page.type, sections, drafts)


def in_order(page_type: str, slugs: Collection[str]) -> list[str]:
    """Sort slugs as the template of the type has them, then the others as they were proposed."""
    usual = [slug for slug, _ in TEMPLATES[page_type]]
    return sorted(slugs, key=lambda slug: usual.index(slug) if slug in usual else len(usual))


def differs(before: str, after: str) -> bool:
    """Return whether two texts name other sources, or differ by at least a twentieth, whatever the whitespace."""
    if set(find_refs(before)) != set(find_refs(after)):
        return True
    one, other = " ".join(before.split()), " ".join(after.split())
    return Levenshtein.normalized_distance(one, other, score_cutoff=CHANGE_LEAST) >= CHANGE_LEAST


def pairs(
    plan: Plan, guard: Guard, names: Mapping[tuple[str, str], UUID], standing: Collection[UUID]
) -> list[tuple[UUID, UUID]]:
    """Return (from, to) of each link whose ends are there."""
    found = []
    for link in guard.links(plan):
        start, end = (page_named(one, names) for one in (link.start, link.end))
        if start not in standing or end not in standing or start == end:
            guard.drop("bad_link", link)
        elif start and end:
            found.append((start, end))
    return found


def page_named(name: PageName, names: Mapping[tuple[str, str], UUID]) -> UUID | None:
    return name.id or names.get((name.type or "", normalise(name.title or "")))
