"""A job that takes forgotten sources out of everything that was written from them.

Its steps look for what is left to do, do a part of it, each in one transaction, and begin again: so a worker may die
anywhere. What the sources said is kept until the last step, and by nobody else.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from content.links import find_links
from content.names import normalise
from content.rollups import rollup_line
from content.sections import Section
from content.words import ANALYSERS, words
from db.database import Row
from db.sql import statements
from resolvers import outline
from resolvers.activity import record
from resolvers.drafts import SectionDraft
from resolvers.errors import Unavailable
from resolvers.hubness import refresh_hubness
from resolvers.jobs import advance, finish
from resolvers.link_targets import resolve
from resolvers.long_texts import read_through
from resolvers.page_names import Names, find_names, renew_names
from resolvers.pages import remove_page
from resolvers.records import Page
from resolvers.revisions import save
from resolvers.search.index import Findable, vocabulary, write_search
from resolvers.search.lexemes import scope_letter
from resolvers.search.statistics import fold, forget_words
from resolvers.states import find_states
from resolvers.writer import Writer
from resolvers.writing import looking, writing

from .aggregation.aggregation_pass import list_anew
from .aggregation.stored import find_lists
from .aggregation.untagging import untag
from .authors import Authors
from .deterministic_links import parents
from .extraction.citing import mark
from .extraction.readings import KEPT
from .knowledge import StoredKnowledge
from .leaf_pass import BUSY, ROUNDS, Run, Stale
from .metrics import Metrics
from .planner import Knowledge, MentionCard, PageCard, Plan, SourceText
from .remaking import Drafts, Gone, Remade, redraft, remake, said
from .stored import find_pages, find_sources, source_of

FORGETTING = statements("forgetting")
PAGES_AT_ONCE, NAMES_AT_ONCE, HISTORIES_AT_ONCE = 10, 50, 20
REREAD_MAX = 200  # sources that are planned again for the names which a forgotten one shared
RUN = 5  # words in a row that are a quotation
TOKEN = re.compile(r"\w+")
NEEDLES_MAX = 500
FIRST = UUID(int=0)
EDIT_SUMMARY = "Written anew: a source was forgotten"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one attempt takes out: those sources that were there when it began."""

    rows: tuple[Row, ...]
    gone: Gone
    since: datetime
    runs: frozenset[tuple[str, ...]]
    marks: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Wanted":
        said = [words(row["said"]) for row in rows]
        runs = {run for text in said for run in runs_of(text)}
        gone = Gone(frozenset(row["source_id"] for row in rows), frozenset(word for text in said for word in text))
        marks = {one for row in rows for one in marks_of(row)}
        return cls(tuple(rows), gone, min(row["since"] for row in rows), frozenset(runs), tuple(marks))

    def is_repeated_in(self, text: str) -> bool:
        """Whether a text cites them, or says five words of theirs in a row."""
        return any(one in text for one in self.marks) or not self.runs.isdisjoint(runs_of(words(text)))


def runs_of(text: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """A text of fewer words is one run."""
    size = min(RUN, len(text))
    return (tuple(text[at : at + size]) for at in range(len(text) - size + 1)) if size else ()


def marks_of(row: Row) -> tuple[str, str]:
    """By the ref and by the id, as a writer may cite it."""
    source = SourceText(row["source_id"], "", row["ref"], "", row["since"])
    return mark(source), mark(replace(source, ref=str(source.id)))


class Forgetting(Run):
    """One attempt at one job."""

    wanted: Wanted | None = None
    scanned = FIRST

    async def step(self) -> bool:
        """A part of what is left; true when nothing is. No budget and no model is waited for: rules go on then."""
        if self.job.is_last_attempt or await self.authors.stop():
            self.authors = Authors(self.compiler.planner, self.compiler.writer)
        if self.wanted is None and not await self.begin():
            return await self.close()
        assert self.wanted is not None
        source_ids = list(self.wanted.gone.ids)
        async with looking(self.database) as connection:
            reader = Writer(connection, self.scope)
            citing = await reader.all(FORGETTING["find_citing"], source_ids=source_ids, size=PAGES_AT_ONCE)
            seen = (
                [] if citing else await reader.all(FORGETTING["find_seen"], source_ids=source_ids, size=NAMES_AT_ONCE)
            )
        if citing:
            await self.rewrite([row["page_id"] for row in citing], self.wanted)
        elif seen:
            await self.recount(self.wanted)
        elif not await self.scan(self.wanted):
            await self.finish_off(self.wanted)
        return False

    async def begin(self) -> bool:
        async with looking(self.database) as connection:
            rows = await Writer(connection, self.scope).all(FORGETTING["find_forgettings"])
        if rows:
            self.wanted = await read_through(sum(len(row["said"]) for row in rows), Wanted.of, rows)
            self.scanned = FIRST
        return bool(rows)

    async def close(self) -> bool:
        async with writing(self.database, self.scope) as writer:
            if await writer.value(FORGETTING["is_forgetting"]):
                return False
            await finish(writer, self.job, self.metrics.stored)
        return True

    async def kept(self, writer: Writer, done: Metrics) -> None:
        """Called last in each transaction. Raises Lost."""
        total = self.metrics + done
        await advance(writer, self.job, total.stored)
        self.metrics = total

    # -- pages that rest on them ---------------------------------------------------------------------------------------

    async def rewrite(self, page_ids: Sequence[UUID], wanted: Wanted) -> None:
        began, drafts = time.monotonic(), Drafts()
        for _ in range(ROUNDS):
            await redraft(self, page_ids, drafts, wanted.gone)
            try:
                return await self.keep(page_ids, drafts, wanted, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def keep(self, page_ids: Sequence[UUID], drafts: Drafts, wanted: Wanted, began: float) -> None:
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            remaking = await remake(writer, page_ids, drafts, done, wanted.gone)
            if remaking.missing or remaking.unsummed:
                raise Stale
            children = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=page_ids)}
            lists = await find_lists(writer, page_ids)
            showing = await writer.all(FORGETTING["find_showing"], page_ids=page_ids)
            above = await find_pages(writer, {row["page_id"] for row in showing} | {page_id for page_id, _ in lists})
            for remade in remaking.pages:
                if is_left(remade.after, children):
                    await store(writer, remade, wanted, done)
                else:
                    await remove(writer, remade.before, done)
            await unfound(writer, page_ids, wanted)
            left = [remade.after for remade in remaking.pages if is_left(remade.after, children)]
            await list_anew(writer, left, done, lists)
            await relist(writer, above, remaking.pages, children)
            await clear(writer, above, wanted, done)
            done.add("seconds", round(time.monotonic() - began, 3))
            await self.kept(writer, done)

    # -- names that were seen in them ----------------------------------------------------------------------------------

    async def recount(self, wanted: Wanted) -> None:
        """Names that were seen in them: those that nothing else says go, the others are counted again."""
        source_ids = list(wanted.gone.ids)
        async with looking(self.database) as connection:
            reader = Writer(connection, self.scope)
            rows = await reader.all(FORGETTING["find_seen"], source_ids=source_ids, size=NAMES_AT_ONCE)
            shared = [row for row in rows if row["has_cluster"] and row["source_ids"]]
            ids = list(dict.fromkeys(id for row in shared for id in row["source_ids"]))[:REREAD_MAX]
            read = [source_of(row) for row in (await find_sources(reader, ids)).values()]
        clusters = await self.clusters({row["alias"] for row in shared}, read, wanted.gone)
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            rows = await writer.all(FORGETTING["find_seen"], source_ids=source_ids, size=NAMES_AT_ONCE)
            held = [row for row in rows if row["source_ids"]]
            lost = [row["id"] for row in rows if not row["source_ids"]]
            await writer.run(FORGETTING["drop_mentions"], mention_ids=lost)
            if held:
                ids = [row["id"] for row in held]
                await writer.run(FORGETTING["drop_sightings"], source_ids=source_ids, mention_ids=ids)
                await writer.run(
                    FORGETTING["recount_mentions"],
                    mention_ids=ids,
                    contexts=[without(row["contexts"], wanted.gone.ids) for row in held],
                    clusters=[clusters.get(row["alias"], {}) for row in held],
                )
            done.add("mentions_dropped", len(lost))
            await self.kept(writer, done)

    async def clusters(
        self, aliases: Collection[str], sources: Sequence[SourceText], gone: Gone
    ) -> dict[str, Mapping[str, Any]]:
        """What the planner keeps with these names, if it had read these sources alone."""
        if not sources:
            return {}
        knowledge = Unheld(StoredKnowledge(self.database, self.scope), aliases)
        plan = await said(self, gone, self.authors.planner.plan(sources, knowledge), Plan())
        return {alias: held.cluster for held in plan.held if (alias := normalise(held.name)) in aliases}

    # -- what pages said once ------------------------------------------------------------------------------------------

    async def scan(self, wanted: Wanted) -> bool:
        """A few pages that rest on them no more, or never did: states that quote them are erased. False at the end."""
        async with looking(self.database) as connection:
            reader = Writer(connection, self.scope)
            given = {"after": self.scanned, "since": wanted.since, "size": HISTORIES_AT_ONCE}
            page_ids = [row["page_id"] for row in await reader.all(FORGETTING["find_revised"], **given)]
            quoting = [page_id for page_id in page_ids if await last_quoting(reader, page_id, wanted)]
        done = Metrics()
        for page_id in quoting:
            async with writing(self.database, self.scope) as writer:
                await erase_history(writer, page_id, wanted, done)
        if done.counts.get("states_erased") or done.counts.get("pages_that_repeat"):
            async with writing(self.database, self.scope) as writer:
                await self.kept(writer, done)
        if page_ids:
            self.scanned = page_ids[-1]
        return bool(page_ids)

    # -- what is left --------------------------------------------------------------------------------------------------

    async def finish_off(self, wanted: Wanted) -> None:
        """Words, reasons and answers; after it nothing knows any more what the sources said."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            if await writer.all(FORGETTING["find_citing"], source_ids=list(wanted.gone.ids), size=1):
                return
            reasons = [f"co_mention:{source_id}" for source_id in wanted.gone.ids]
            touched = await writer.all(FORGETTING["drop_reasons"], reasons=reasons)
            await writer.run(FORGETTING["drop_unfounded"])
            await refresh_hubness(writer, [row["to_page_id"] for row in touched])
            for page in await untag(writer, wanted.gone.words):
                await erase_states(writer, page, wanted.since, done)
            unsaid = await forget_vocabulary(writer, wanted.gone.words)
            logged = await writer.all(FORGETTING["find_logged_names"], since=wanted.since)
            ids = [row["id"] for row in logged if not unsaid.isdisjoint(words(str(row["detail"])))]
            await writer.run(FORGETTING["clear_log"], ids=ids)
            await writer.run(FORGETTING["drop_answers"], since=wanted.since, needles=needles(wanted, unsaid))
            await writer.run(FORGETTING["drop_forgettings"], source_ids=list(wanted.gone.ids))
            done.add("sources_forgotten", len(wanted.rows))
            await self.kept(writer, done)
        for source_id in wanted.gone.ids:
            KEPT.forget(source_id)
        self.wanted = None


@dataclass(frozen=True, slots=True)
class Unheld:
    """A wiki that does not hold these names."""

    knowledge: Knowledge
    aliases: Collection[str]

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        return await self.knowledge.pages(aliases)

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        return await self.knowledge.mentions([alias for alias in aliases if alias not in self.aliases])

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        return await self.knowledge.sources(ids)


def without(contexts: Sequence[Mapping[str, Any]], source_ids: Collection[UUID]) -> str:
    """The quotes of the others, as JSON: a list of lists would be an array of another kind."""
    gone = set(map(str, source_ids))
    return orjson.dumps([context for context in contexts if context["sourceId"] not in gone]).decode()


def is_left(page: Page, with_children: Collection[UUID]) -> bool:
    """A page that says nothing goes, unless others hang below it."""
    return page.id in with_children or any(section.body.strip() for section in page.sections)


async def store(writer: Writer, remade: Remade, wanted: Wanted, done: Metrics) -> None:
    """The page as it is without them, under the names that it still has, and nothing of what it said meanwhile."""
    lost = await drop_names(writer, remade)
    after = replace(remade.after, last_compiled_at=writer.now)
    saved = await save(writer, remade.before, after, edit_summary=EDIT_SUMMARY)
    if lost != Names():
        names = await renew_names(writer, after)
        await write_search(writer, Findable(after, names))
        await resolve(writer, names | lost)
    await record(writer, "page.rewritten", after.id, version=saved.version)
    done.add("pages_rewritten")
    await erase_states(writer, replace(after, version=saved.version), wanted.since, done)


async def drop_names(writer: Writer, remade: Remade) -> Names:
    """Names and former slugs that nothing else gives; those that the page has by its title or by hand stay."""
    page, lost = remade.after, remade.gone_words
    aliases = [
        row["alias"]
        for row in await writer.all(FORGETTING["find_page_aliases"], page_ids=[page.id])
        if row["alias"] != normalise(page.title) and not lost.isdisjoint(words(row["alias"]))
    ]
    slugs = [
        row["slug"]
        for row in await writer.all(FORGETTING["find_old_slugs"], page_ids=[page.id])
        if not lost.isdisjoint(words(row["slug"].replace("-", " ")))
    ]
    if aliases:
        await writer.run(FORGETTING["drop_aliases"], page_id=page.id, aliases=aliases)
    if slugs:
        await writer.run(FORGETTING["drop_old_slugs"], page_id=page.id, slugs=slugs)
    return Names(frozenset(slugs), frozenset(aliases))


async def erase_states(writer: Writer, page: Page, since: datetime, done: Metrics) -> None:
    """Everything that the page said since then and says no more."""
    names = (await find_names(writer, page))[page.id]
    kept = {"slug": page.slug, "metadata": page.metadata or {}, "aliases": sorted(names.aliases)}
    whole = {"version": page.version, "body_md": page.body, **kept}
    await writer.run(FORGETTING["make_state_whole"], page_id=page.id, **whole)
    given = {"page_id": page.id, "version": page.version, "title": page.title, "summary": page.summary}
    erased = await writer.run(FORGETTING["erase_states"], **given, since=since)
    done.add("states_erased", erased)


async def unfound(writer: Writer, page_ids: Sequence[UUID], wanted: Wanted) -> None:
    """These pages rest on them no more, nor do the links that followed from the places of their sources."""
    ids = {"page_ids": list(page_ids)}
    await writer.run(FORGETTING["drop_citations"], **ids, source_ids=list(wanted.gone.ids))
    await writer.run(FORGETTING["restate_evidence"], **ids)
    founded = [(*pair, reason) for reason, pairs in (await parents(writer, page_ids)).items() for pair in pairs]
    touched = await writer.all(
        FORGETTING["drop_places"],
        **ids,
        starts=[start for start, _, _ in founded],
        ends=[end for _, end, _ in founded],
        founded=[reason for *_, reason in founded],
    )
    await writer.run(FORGETTING["drop_unfounded"])
    await refresh_hubness(writer, [row["to_page_id"] for row in touched])


async def remove(writer: Writer, page: Page, done: Metrics) -> None:
    await remove_page(writer, page)
    await record(writer, "page.deleted", page.id)
    done.add("pages_deleted")


async def relist(
    writer: Writer, above: Collection[UUID], pages: Sequence[Remade], with_children: Collection[UUID]
) -> None:
    """Lists that nobody else keeps: a line for a page that goes is taken out, one for a page that stays is as it is."""
    states = {remade.before.id: remade.after if is_left(remade.after, with_children) else None for remade in pages}
    lines = {f"{one.before.type}/{one.before.slug}": (one.before, states[one.before.id]) for one in pages}
    for page in (await find_pages(writer, above)).values():
        sections = tuple(replace(section, body=relisted(section, lines)) for section in page.sections)
        if sections != page.sections:
            drafts = [SectionDraft(section.body, section.slug) for section in sections]
            saved = await save(
                writer, page, replace(page, sections=outline.merged(page.type, page.sections, drafts)),
                edit_summary=EDIT_SUMMARY,
            )  # fmt: skip
            await record(writer, "page.rewritten", page.id, version=saved.version)


async def clear(writer: Writer, above: Mapping[UUID, Page], wanted: Wanted, done: Metrics) -> None:
    """Pages that list others, after that: what they said before is erased, and a topic made for its lists goes."""
    pages = await find_pages(writer, above)
    parents = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=list(pages))}
    made = {row["page_id"] for row in await writer.all(FORGETTING["find_made"], page_ids=list(pages))}
    for page in pages.values():
        if page.version == above[page.id].version:
            continue
        if page.id in made and not is_left(page, parents):
            await remove(writer, page, done)
        else:
            await erase_states(writer, page, wanted.since, done)
            done.add("pages_relisted")


def relisted(section: Section, pages: Mapping[str, tuple[Page, Page | None]]) -> str:
    """Only lines that are as a rollup has them: what people wrote about a page is theirs."""
    kept: list[str] = []
    for line in section.body.split("\n"):
        found = find_links(line)
        before, after = pages.get(f"{found[0].type}/{found[0].slug}", (None, None)) if found else (None, None)
        if before is None or line != rollup_line(before.title, before.type, before.slug, before.summary):
            kept.append(line)
        elif after is not None:
            kept.append(rollup_line(after.title, after.type, after.slug, after.summary))
    return "\n".join(kept)


async def last_quoting(reader: Writer, page_id: UUID, wanted: Wanted) -> int | None:
    """The last version since then that quotes them; None when there is none."""
    rows = await reader.all(FORGETTING["find_versions_since"], page_id=page_id, since=wanted.since)
    for row in reversed(rows):
        (state,) = await find_states(reader, reader.scope, page_id, [row["version"]])
        text = f"{state.body}\n{state.summary or ''}\n{row['edit_summary'] or ''}"
        if await read_through(len(text), wanted.is_repeated_in, text):
            return state.version
    return None


async def erase_history(writer: Writer, page_id: UUID, wanted: Wanted, done: Metrics) -> None:
    """Former states that quote them. What a page says now, resting on nothing forgotten, is whoever's who wrote it."""
    page = (await find_pages(writer, [page_id])).get(page_id)
    version = await last_quoting(writer, page_id, wanted)
    if page is None or version is None:
        return
    if version == page.version:
        done.add("pages_that_repeat")
    await erase_states(writer, page, wanted.since, done)


async def forget_vocabulary(writer: Writer, said: Collection[str]) -> frozenset[str]:
    """Take words that no page says any more out of what search counts and suggests: these words."""
    unsaid: set[str] = set(said)
    for analyser in ANALYSERS:
        await fold(writer, analyser)
        await forget_words(writer, analyser)
        letter = scope_letter(writer.scope.tenant_id, writer.scope.owner_id, analyser)
        given = {"analyser": analyser, "words": vocabulary(sorted(said))}
        gone = [row["word"] for row in await writer.all(FORGETTING["find_unsaid"], **given, letter=letter)]
        await writer.run(FORGETTING["drop_words"], analyser=analyser, words=gone)
        await writer.run(FORGETTING["drop_empty_words"], analyser=analyser)
        unsaid &= set(gone)
    return frozenset(unsaid)


def needles(wanted: Wanted, unsaid: frozenset[str]) -> list[bytes]:
    """What an answer holds that shows one of them: its id, or a word of its own as it was written there."""
    tokens = {token for row in wanted.rows for token in TOKEN.findall(row["said"])}
    own = sorted((token for token in tokens if not unsaid.isdisjoint(words(token))), key=len, reverse=True)
    written = [orjson.dumps(token)[1:-1] for token in own[:NEEDLES_MAX] if len(token) > 3]
    return [str(source_id).encode() for source_id in wanted.gone.ids] + written
