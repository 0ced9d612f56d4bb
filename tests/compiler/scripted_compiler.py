"""A compiler whose planner and writer are scripted by the sources: each source is a list of orders, one per line.

    page entity Momofuku | Momo        a new page, with other names behind the bar
    to entity Momofuku notes           an addition to a section of the page of that name
    hold Chef João                     a mention: a name without a page
    promote entity Chef João           a page made of a mention
    link Momofuku > Toronto            one page refers to another

Any other line is text for the page of the order above it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from compiler.compiler import CAPS, Caps, Compiler
from compiler.jobs.worker import work_once
from compiler.planner import (
    HeldName,
    Knowledge,
    LinkProposal,
    NewPage,
    PageName,
    PageUpdate,
    Plan,
    SectionProposal,
    SectionTask,
    SourceText,
)
from content.names import normalise
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki


@dataclass
class ScriptedPlanner:
    """A planner that follows the orders, and adds `extra` to each plan. With `is_blind` it looks up no pages."""

    extra: Plan = field(default_factory=Plan)
    is_blind: bool = False
    plans: int = 0

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        self.plans += 1
        orders = [(source, *line.partition(" ")[::2]) for source in sources for line in source.content.splitlines()]
        names = {normalise(parse(rest)[1]) for _, verb, rest in orders if verb in ("page", "to", "promote")}
        known = {} if self.is_blind else await knowledge.pages(names)
        pages: dict[tuple[str, str], NewPage | PageUpdate] = {}
        held, links = [], []
        for source, verb, rest in orders:
            if verb in ("page", "to", "promote"):
                type, title, section, aliases = parse(rest)
                key, card = (type, normalise(title)), self.card(known, type, title)
                page = pages.get(key) or (
                    PageUpdate(card.id, ()) if card else NewPage(type, title, (), f"{title} is a {type}.", aliases)
                )
                if verb == "promote" and isinstance(page, NewPage):
                    page = replace(page, promotes=(normalise(title),))
                pages[key] = replace(page, sections=add_section(page.sections, SectionProposal(section, (source.id,))))
            elif verb == "hold":
                held.append(HeldName(rest, source.id, f"It says {rest}.", "entity", {"seen": source.ref}))
            elif verb == "link":
                ends = [PageName(type="entity", title=end.strip()) for end in rest.split(">")]
                links.append(LinkProposal(ends[0], ends[1], (source.id,)))
        return Plan(
            (*(page for page in pages.values() if isinstance(page, NewPage)), *self.extra.new_pages),
            (*(page for page in pages.values() if isinstance(page, PageUpdate)), *self.extra.updates),
            (*held, *self.extra.held),
            (*links, *self.extra.links),
            {"input_tokens": 10},
        )

    def card(self, known: Any, type: str, title: str) -> Any:
        return next((card for card in known.get(normalise(title), ()) if card.type == type), None)


def parse(rest: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Return type, title, section and other names."""
    named, _, aliases = rest.partition(" | ")
    type, _, title = named.partition(" ")
    title, _, section = title.partition(" # ")
    return type, title, section or "overview", tuple(aliases.split(" | ")) if aliases else ()


def add_section(sections: tuple[SectionProposal, ...], more: SectionProposal) -> tuple[SectionProposal, ...]:
    found: dict[str, list[UUID]] = defaultdict(list)
    for section in (*sections, more):
        found[section.slug] += section.source_ids
    return tuple(SectionProposal(slug, tuple(dict.fromkeys(ids))) for slug, ids in found.items())


@dataclass
class PlannerFailingOnce(ScriptedPlanner):
    """A planner whose first call fails, as if its model were unavailable for a moment."""

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        if not self.plans:
            self.plans += 1
            raise ValueError("the model is away")
        return await super().plan(sources, knowledge)


@dataclass
class ScriptedWriter:
    """A writer of a line for each thing that the sources say of the page. It needs `pause` seconds per section."""

    pause: float = 0.0
    written: list[SectionTask] = field(default_factory=list)

    async def write(self, task: SectionTask) -> str:
        self.written.append(task)
        await asyncio.sleep(self.pause)
        return "\n".join(f"- {line}" for source in task.sources for line in lines_for(source, task.page_title))


class FailingWriter:
    """A writer that always fails."""

    async def write(self, task: SectionTask) -> str:
        raise RuntimeError("no words")


def lines_for(source: SourceText, title: str) -> list[str]:
    """Return the lines under the order for the page of that title."""
    lines, speaks = [], False
    for line in source.content.splitlines():
        verb, _, rest = line.partition(" ")
        if verb in ("page", "to", "promote", "hold", "link"):
            speaks = verb not in ("hold", "link") and parse(rest)[1] == title
        elif speaks:
            lines.append(line)
    return lines or [f"{source.ref} names it."]


def scripted_compiler(
    planner: ScriptedPlanner | None = None, writer: ScriptedWriter | None = None, caps: Caps = CAPS
) -> Compiler:
    """Return a compiler with scripted parts, or with those that are given."""
    return Compiler(planner or ScriptedPlanner(), writer or ScriptedWriter(), caps)


async def retain_texts(wiki: Wiki, *texts: str, start: int = 0, **metadata: Any) -> list[UUID]:
    """Retain sources with these texts, which queues a job that compiles them. Return their ids."""
    drafts = [SourceDraft("daily_note", f"day-{n}", text, metadata=metadata) for n, text in enumerate(texts, start)]
    found = []
    for at in range(0, len(drafts), 100):
        found += (await retain_sources(wiki.database, wiki.scope, drafts[at : at + 100])).items
    return [item.saved.source_id for item in found if item.saved]


async def compile_all(wiki: Wiki, compiler: Compiler | None = None) -> list[dict[str, Any]]:
    """Run every job, and return the compile jobs afterwards, the oldest first."""
    while await work_once(wiki.database, compiler or scripted_compiler(), "test"):
        pass
    return await compile_jobs(wiki)


async def compile_jobs(wiki: Wiki) -> list[dict[str, Any]]:
    """Return all jobs except those that lint, the oldest first."""
    return [job for job in await wiki.rows("compile_jobs", "created_at, id") if job["trigger"] != "lint"]


async def pages_by_title(wiki: Wiki) -> dict[str, dict[str, Any]]:
    return {row["title"]: row for row in await wiki.rows("pages", "title")}


async def citations(wiki: Wiki) -> set[tuple[str, str, str]]:
    """Return (page, section, ref of the source) of every citation."""
    rows = await wiki.connection.fetch(
        """SELECT p.title, s.section_slug, e.ref FROM section_sources c
        JOIN pages p ON p.id = c.page_id JOIN sections s ON s.id = c.section_id JOIN sources e ON e.id = c.source_id
        WHERE c.tenant_id = $1 AND c.owner_id = $2""",
        wiki.scope.tenant_id,
        wiki.scope.owner_id,
    )
    return {tuple(row) for row in rows}
