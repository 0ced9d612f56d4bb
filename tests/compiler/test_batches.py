"""Sources are compiled in batches: their size, the reading ahead of the next, and the statements of each."""

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from asyncpg.transaction import Transaction

from compiler.compiler import CAPS, Caps, Compiler
from compiler.planner import Knowledge, Plan, SectionTask, SourceText
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.sources.retain import SourceDraft, retain_sources
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.recording_database import RecordingDatabase
from tests.wiki import Wiki

CITIES = ("Austin", "Boston", "Chicago", "Denver", "El Paso", "Fresno", "Galveston", "Houston", "Irvine", "Jackson")
CAPS_OF_FOUR = Caps(batch=4, paid_batch=2, new_pages=500, sections=500)


@dataclass
class Free(ScriptedPlanner):
    """A planner that costs nothing, and records the sources of each batch."""

    is_free = True
    batches: list[list[str]] = field(default_factory=list)
    is_collected: list[bool] = field(default_factory=list)

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        self.batches.append([source.ref for source in sources])
        self.is_collected.append(gc.isenabled())
        return await super().plan(sources, knowledge)


class FreeScribe(ScriptedWriter):
    is_free = True


@dataclass
class Ahead(Free):
    """A planner that reads ahead, and fails there if `fails` is set."""

    ahead: list[list[str]] = field(default_factory=list)
    fails: bool = False

    async def read_ahead(self, sources: Sequence[SourceText]) -> None:
        self.ahead.append([source.ref for source in sources])
        if self.fails:
            raise ValueError("This cannot be read.")
        await asyncio.Event().wait()


async def notes(wiki: Wiki, count: int) -> None:
    await retain_texts(wiki, *(f"page entity {chr(97 + n) * 3}\nIt is {n}." for n in range(count)))


async def test_free_authors_read_larger_batches(wiki: Wiki) -> None:
    await notes(wiki, 5)
    free, paid = Free(), Free()
    await compile_all(wiki, Compiler(free, FreeScribe(), CAPS_OF_FOUR))
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("document", str(n), "hold Cy") for n in range(3)])
    await compile_all(wiki, Compiler(paid, ScriptedWriter(), CAPS_OF_FOUR))
    assert free.batches == [["day-0", "day-1", "day-2", "day-3"], ["day-4"]]
    assert list(map(len, paid.batches)) == [2, 1]
    assert (CAPS.batch, CAPS.paid_batch) == (500, 50)


async def test_garbage_collection_is_off_while_free_authors_plan(wiki: Wiki) -> None:
    await notes(wiki, 1)
    free, paid = Free(), Free()
    await compile_all(wiki, Compiler(free, FreeScribe()))
    await retain_texts(wiki, "hold Somebody", start=9)
    await compile_all(wiki, Compiler(paid, ScriptedWriter()))
    assert (free.is_collected, paid.is_collected, gc.isenabled()) == ([False], [True], True)


@dataclass
class Holding(Ahead):
    """Holds the lock of the wiki from each plan on until the next sources are read, so that storing takes as long."""

    wiki: Wiki | None = None
    held: Transaction | None = None

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        assert self.wiki is not None
        self.held = self.wiki.connection.transaction()
        await self.held.start()
        await self.wiki.connection.execute("SELECT 1 FROM owners WHERE id = $1 FOR UPDATE", self.wiki.scope.owner_id)
        return await super().plan(sources, knowledge)

    async def read_ahead(self, sources: Sequence[SourceText]) -> None:
        assert self.held is not None
        await self.held.rollback()
        await super().read_ahead(sources)


async def test_the_next_sources_are_read_while_a_batch_is_stored(wiki: Wiki) -> None:
    await notes(wiki, 6)
    planner = Holding(wiki=wiki)
    jobs = await compile_all(wiki, Compiler(planner, FreeScribe(), CAPS_OF_FOUR))
    assert planner.batches == [["day-0", "day-1", "day-2", "day-3"], ["day-4", "day-5"]]
    assert planner.ahead == [["day-4", "day-5"], []]
    assert [job["status"] for job in jobs] == ["succeeded"]
    assert len(await pages_by_title(wiki)) == 6


async def test_errors_while_reading_ahead_do_not_fail_the_job(wiki: Wiki) -> None:
    await notes(wiki, 6)
    jobs = await compile_all(wiki, Compiler(Ahead(fails=True), FreeScribe(), CAPS_OF_FOUR))
    assert [(job["status"], job["attempt"]) for job in jobs] == [("succeeded", 1)]
    assert len(await pages_by_title(wiki)) == 6


async def test_a_batch_indexes_its_pages_for_search_once(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
    archived = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Antones"))
    await archive_page(wiki.database, wiki.scope, archived.page_id)
    database = RecordingDatabase(wiki.database.dsn)
    await database.open()
    await retain_texts(
        wiki,
        "page entity Zilker\nA park.\nto entity Antones\nA club.\nto topic Austin # summary\nA town.",
        "to entity Zilker\nGreen.",
        city="Austin",
        tags=["park"],
    )
    before = len(await database.sent_statements())
    await compile_all(replace(wiki, database=database))
    sent = [record.sql for record in (await database.sent_statements())[before:]]
    await database.close()
    assert "Zilker" in (await pages_by_title(wiki))["Austin"]["body_md"], "Austin was saved twice"
    assert sum("INSERT INTO search_pages" in sql for sql in sent) == 1
    found = await wiki.connection.fetch(
        "SELECT p.title, s.status, s.tsv::text LIKE '%zilker%' FROM search_pages s JOIN pages p ON p.id = s.page_id"
    )
    assert set(map(tuple, found)) == {
        ("Antones", "active", False),
        ("Austin", "active", True),
        ("Zilker", "active", True),
    }


async def test_the_pages_table_is_analyzed_after_a_batch_with_many_pages(wiki: Wiki) -> None:
    database = RecordingDatabase(wiki.database.dsn)
    await database.open()
    listening = replace(wiki, database=database)
    few = "\n".join(f"page entity Few {n}\nIt is {n}." for n in range(10))
    many = "\n".join(f"page entity Many {n}\nIt is {n}." for n in range(60))
    analyzed = []
    for n, text in enumerate((few, many, many.replace("Many", "More"))):
        await retain_texts(wiki, text, start=n)
        before = len(await database.sent_statements())
        await compile_all(listening, scripted_compiler(caps=CAPS._replace(new_pages=500, sections=500)))
        sent = [record.sql for record in (await database.sent_statements())[before:]]
        analyzed.append(sum(sql.startswith("ANALYZE") and " pages" in sql for sql in sent))
    await database.close()
    assert analyzed == [0, 1, 0]


async def test_each_stored_batch_adds_an_attempt_at_the_job(wiki: Wiki) -> None:
    class Broken(ScriptedPlanner):
        async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
            raise ValueError("no plan")

    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await wiki.connection.execute("UPDATE compile_jobs SET attempt = 5, metrics = '{\"batches\": 1}'")
    (job,) = await compile_all(wiki, scripted_compiler(Broken()))
    assert (job["status"], job["attempt"]) == ("failed", 6)
    assert job["error"] == "Planning 1 source (daily_note/day-0) failed: ValueError: no plan."
    await wiki.connection.execute("UPDATE compile_jobs SET status = 'pending', finished_at = NULL, run_after = now()")
    (job,) = await compile_all(wiki)
    assert (job["status"], job["attempt"]) == ("failed", 7)
    assert job["error"] == "Every worker that had it fell silent."


async def test_a_failure_after_a_stored_batch_is_not_the_last_one(wiki: Wiki) -> None:
    class Tired(ScriptedPlanner):
        async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
            if self.plans:
                raise ValueError("no more")
            return await super().plan(sources, knowledge)

    await retain_texts(wiki, "page entity Momofuku\nFood.", "page entity Toronto\nA city.")
    await wiki.connection.execute("UPDATE compile_jobs SET attempt = 4")
    (job,) = await compile_all(wiki, scripted_compiler(Tired(), caps=Caps(batch=1)))
    assert (job["status"], job["attempt"], job["metrics"]["batches"]) == ("pending", 5, 1)


async def test_a_failed_section_ends_the_writing_of_the_others(wiki: Wiki) -> None:
    class Failing(ScriptedWriter):
        async def write(self, task: SectionTask) -> str:
            if not self.written:
                self.written.append(task)
                raise ValueError("no words")
            return await super().write(task)

    writer = Failing(pause=0.1)
    await retain_texts(wiki, *(f"page entity {name}\nA city." for name in CITIES))
    (job,) = await compile_all(wiki, scripted_compiler(writer=writer))
    assert job["status"] == "pending"
    begun = len(writer.written)
    await asyncio.sleep(0.5)
    assert len(writer.written) == begun < len(CITIES)
