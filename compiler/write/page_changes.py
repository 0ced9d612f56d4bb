"""Composing: a plan, the written texts and the present wiki give the next states of pages. Nothing is stored here.

A plan is composed at least twice. The first time, outside of any write transaction, finds which sections have to be
written. The second time, under the wiki's write lock, their texts are ready. If the wiki changed in between, sections
are missing again: they are written, and the plan is composed once more.
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
from lib.threads import offload
from resolvers.errors import BadInput
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..link.texts import PageLinks
from ..metrics import Metrics
from ..plan.pages import PagePlan, assign, drop_rollups, drop_thin_themes
from ..plan.validation import Guard
from ..planner import EARLIER, Disputed, HeldName, NewPage, PageName, PageUpdate, Plan, SectionTask
from ..quoting import find_refs
from ..read.evidence import add_named_sources
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
    labels_of,
    select_corrections,
    times_of,
    without_superseded,
)
from .tasks import TaskKey, drafts_of, tasks_of

CHANGE_MIN = 0.05  # share of the characters

Texts = Mapping[TaskKey, str]


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page before and after a batch. `cited` are the sources that the plan cites for each section."""

    before: Page | None
    after: Page
    aliases: tuple[str, ...]
    promotes: tuple[str, ...]
    cited: Mapping[str, tuple[UUID, ...]]


@dataclass(frozen=True, slots=True)
class Composition:
    """Everything to be stored for a batch. It may be stored only if nothing is `missing` or `unjudged`."""

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
    """Compose the changes of a plan with the present state of the wiki and the `texts` that are written already.

    A task for the writer has the `sources_max` newest sources that the section cites, besides the new ones, and with
    `reads_again` also those that its present text names. `judged` are the judge's verdicts on corrections; None if the
    rules decide.
    """
    metrics = Metrics()
    metrics.use(plan.usage)
    for reason, times in plan.dropped.items():
        metrics.drop(reason, times)
    facts = await find_facts(reader, cited_ids(plan))
    cards = {card.id: card for card in await find_cards(reader, ids=pages_in(plan))}
    guard = Guard(facts.keys(), cards.keys(), metrics)
    page_plans, names = await assign(reader, plan, guard, metrics)
    await drop_rollups(reader, page_plans, guard)
    await drop_thin_themes(reader, page_plans, guard)
    cited = await find_citations(
        reader,
        [
            (planned.page.id, slug)
            for planned in page_plans.values()
            for slug in {*planned.sections, *EARLIER["recent"]}
        ],
        sources_max,
    )
    facts |= await find_facts(reader, {id for ids in cited.values() for id in ids} - facts.keys())
    if reads_again:
        cited = await add_named_sources(reader, page_plans.values(), cited, facts)
        facts |= await find_facts(reader, {id for ids in cited.values() for id in ids} - facts.keys())
    drafts = drafts_of(page_plans.values(), cited, facts)
    keys = {section_key: draft.key for section_key, draft in drafts.items()}
    missing = {keys[section_key]: draft for section_key, draft in drafts.items() if keys[section_key] not in texts}
    if missing:
        synthesised = await find_synthesised(
            reader, {planned.page.id: planned.source_ids for planned in page_plans.values()}
        )
        return Composition(
            await tasks_of(reader, missing, facts, synthesised), metrics=count_planned(page_plans.values())
        )
    links = PageLinks(guard, page_plans.values())
    known = await find_known(reader, [planned.page.id for planned in page_plans.values() if not planned.is_new])
    captured = times_of(labels_of(facts))
    written = {
        section_key: without_superseded(texts[key], known.get(section_key[0], ()), captured)
        for section_key, key in keys.items()
    }
    await links.look_up(reader, written.values())
    compiled = await find_compiled_summaries(
        reader, [planned.page.id for planned in page_plans.values() if planned.page.summary]
    )
    changes = [
        change
        for planned in page_plans.values()
        if (
            change := await apply_plan(planned, written, links, guard, has_compiled_summary=planned.page.id in compiled)
        )
    ]
    verdicts = Verdicts(judged)
    changes, claims = await correct_changes(reader, changes, facts, known, verdicts)
    metrics.add("claims_superseded", len(claims))
    contradictions = await find_contradictions(reader, changes, facts)
    metrics.add("contradictions_found", len(contradictions))
    existing = {change.after.id for change in changes} | cards.keys()
    metrics.add("pages_created", sum(change.before is None for change in changes))
    return Composition(
        missing={},
        unjudged=tuple(verdicts.missing.values()),
        changes=tuple(changes),
        claims=tuple(claims),
        contradictions=tuple(contradictions),
        held=tuple(guard.held_names(plan)),
        links=tuple(dict.fromkeys(valid_links(plan, guard, names, existing))),
        sources=facts,
        metrics=metrics,
    )


async def correct_changes(
    reader: Writer, changes: Sequence[PageChange], facts: Mapping[UUID, Row], known: Known, verdicts: Verdicts
) -> tuple[list[PageChange], list[Mapping[str, Any]]]:
    """Return the changes without the claims that their new sources override, and these claims as rows."""
    new = {id for change in changes for ids in change.cited.values() for id in ids}
    sources = await TEXTS.of(reader, {id: facts[id] for id in new})
    labelled, found = labels_of(facts), list[PageChange]()
    claims: list[Mapping[str, Any]] = []
    corrections = {id: await corrections_of(source) for id, source in sources.items()}
    for change in changes:
        cited = dict.fromkeys(id for ids in change.cited.values() for id in ids if id in sources)
        candidates = select_corrections(chain.from_iterable(corrections[id] for id in cited))
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


async def find_contradictions(
    reader: Writer, changes: Sequence[PageChange], facts: Mapping[UUID, Row]
) -> list[Mapping[str, Any]]:
    """Return, as rows, the contradictions between the new statements of each page and its other statements."""
    recorded = await find_recorded(reader, [change.after.id for change in changes if change.before])
    labelled, found = labels_of(facts), list[Mapping[str, Any]]()
    for change in changes:
        page, new = change.after, {id for ids in change.cited.values() for id in ids}
        names = {page.title, *change.aliases}
        found += await contradictions_in(page.id, page.sections, names, new, labelled, recorded)
    return found


def with_claims(change: PageChange, done: Corrected) -> tuple[PageChange, Sequence[Mapping[str, Any]]]:
    """Return the change with the corrected sections and their citations, and the claims as rows.

    If the corrected sections are not valid, the change stays as it was and no claim is recorded.
    """
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


def count_planned(page_plans: Collection[PagePlan]) -> Metrics:
    """Return the pages and sections that the plan would create and write, the maximum before anything is written."""
    return Metrics(
        {
            "pages_created": sum(planned.is_new for planned in page_plans),
            "sections_written": sum(len(planned.sections) for planned in page_plans),
        }
    )


def cited_ids(plan: Plan) -> set[UUID]:
    """Return the ids of all sources that a plan names."""
    proposals: tuple[NewPage | PageUpdate, ...] = (*plan.new_pages, *plan.updates)
    sections = (section for page in proposals for section in page.sections)
    cited = {id for section in sections for id in section.source_ids}
    return cited | {held.source_id for held in plan.held} | {id for link in plan.links for id in link.source_ids}


def pages_in(plan: Plan) -> set[UUID]:
    """Return the ids of all stored pages that a plan names."""
    ends = (end.id for link in plan.links for end in (link.start, link.end))
    return {update.page_id for update in plan.updates} | {id for id in ends if id}


async def apply_plan(
    planned: PagePlan,
    written: Mapping[tuple[UUID, str], str],
    links: PageLinks,
    guard: Guard,
    *,
    has_compiled_summary: bool,
) -> PageChange | None:
    """Return the change of the page by its written sections, or None if nothing changes.

    A section that differs too little from its present text is skipped, but its new sources are still cited.
    """
    present = {section.slug: section.body for section in planned.page.sections}
    cited: dict[str, tuple[UUID, ...]] = {}
    drafts = []
    for slug in in_order(planned.page.type, planned.sections):
        await asyncio.sleep(0)  # short texts are compared without a thread, so other tasks get their turn here
        body, before, proposal = written[planned.page.id, slug].strip(), present.get(slug, ""), planned.sections[slug]
        if not body:
            guard.drop("empty_section", (planned.page.title, slug))
        elif before and not await offload(len(body) + len(before), differs, before, body):
            guard.metrics.add("sections_skipped")
            cited[slug] = proposal.source_ids
        else:
            drafts.append(
                SectionDraft(links.link_text(body, planned.page.id), slug, None if before else proposal.heading)
            )
    sections, merged = await merge_valid_drafts(planned.page, drafts, guard)
    guard.metrics.add("sections_written", len(merged))
    cited |= {slug: planned.sections[slug].source_ids for slug in merged}
    if planned.is_new and not sections:
        return None
    if not planned.is_new and not cited and planned.sections:
        return None
    takes_summary = planned.summary and (not planned.page.summary or has_compiled_summary)
    after = replace(
        planned.page,
        sections=sections,
        summary=planned.summary if takes_summary else planned.page.summary,
        tags=tuple(dict.fromkeys((*planned.page.tags, *planned.tags)))[: max(TAGS.maximum, len(planned.page.tags))],
        status="active",
    )
    new_names = [name for name in planned.aliases if normalise(name) not in planned.known_aliases or planned.is_new]
    room = max(0, ALIASES.maximum - 1 - len(planned.known_aliases) * (not planned.is_new))
    return PageChange(
        None if planned.is_new else planned.page, after, tuple(new_names[:room]), tuple(planned.promotes), cited
    )


async def merge_valid_drafts(
    page: Page, drafts: Sequence[SectionDraft], guard: Guard
) -> tuple[outline.Outline, list[str]]:
    """Return the page's sections with the valid drafts merged into them, and the slugs of these. Invalid drafts are
    dropped one by one."""
    try:
        return await merge_drafts(page, page.sections, drafts), [str(draft.slug) for draft in drafts]
    except BadInput:
        pass
    sections, merged = page.sections, []
    for draft in drafts:
        try:
            sections = await merge_drafts(page, sections, [draft])
            merged.append(str(draft.slug))
        except BadInput as error:
            guard.drop("bad_section", f"{page.title}: {error.message}")
    return sections, merged


async def merge_drafts(page: Page, sections: outline.Outline, drafts: Sequence[SectionDraft]) -> outline.Outline:
    """Return the sections with these drafts merged into them. Raises BadInput for an invalid one."""
    if not drafts:
        return sections
    return await offload(outline.size(sections, drafts), outline.merge_drafts, page.type, sections, drafts)


def in_order(page_type: str, slugs: Collection[str]) -> list[str]:
    """Sort slugs as in the template of the page type; slugs that are not in it come last, in the given order."""
    usual = [slug for slug, _ in TEMPLATES[page_type]]
    return sorted(slugs, key=lambda slug: usual.index(slug) if slug in usual else len(usual))


def differs(before: str, after: str) -> bool:
    """Return whether two texts cite different sources, or differ by CHANGE_MIN or more, ignoring white space."""
    if set(find_refs(before)) != set(find_refs(after)):
        return True
    old, new = " ".join(before.split()), " ".join(after.split())
    return Levenshtein.normalized_distance(old, new, score_cutoff=CHANGE_MIN) >= CHANGE_MIN


def valid_links(
    plan: Plan, guard: Guard, names: Mapping[tuple[str, str], UUID], existing: Collection[UUID]
) -> list[tuple[UUID, UUID]]:
    """Return (from, to) of each proposed link between two different existing pages; the others are dropped."""
    found = []
    for link in guard.links(plan):
        start, end = (page_named(name, names) for name in (link.start, link.end))
        if start not in existing or end not in existing or start == end:
            guard.drop("bad_link", link)
        elif start and end:
            found.append((start, end))
    return found


def page_named(name: PageName, names: Mapping[tuple[str, str], UUID]) -> UUID | None:
    """Return the id of the page that the plan refers to, or None if there is no such page."""
    return name.id or names.get((name.type or "", normalise(name.title or "")))
