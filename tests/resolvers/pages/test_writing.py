"""Each write has one transaction, one writer at a time in a wiki, and a fixed number of statements."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest

from db.connection import Connection
from db.ids import new_id
from db.scope import Role
from db.sql import statements
from resolvers.errors import BadInput, CairnError, Conflict, NotFound, Unavailable
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.sections import patch_section
from resolvers.pages.upsert import upsert_page
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from resolvers.transactions.db_errors import refusal
from resolvers.transactions.transaction import writing
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = ""):
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))).page_id


FOLD = statements("search/statistics")["fold_terms"]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the statements that are sent, except the one that occasionally folds the counts of many writes."""
    sent: list[str] = []

    def spy(name: str) -> None:
        inner = getattr(Connection, name)

        async def send(self, statement, **values):
            if statement != FOLD:
                sent.append(statement.sql)
            return await inner(self, statement, **values)

        monkeypatch.setattr(Connection, name, send)

    with monkeypatch.context():
        for name in ("all", "one", "value", "run"):
            spy(name)
        yield sent


def long_body(size: int) -> str:
    return "\n\n".join(f"## Section {n}\n\n" + " ".join(f"[[Page {n} {m}]]" for m in range(4)) for n in range(size))


async def test_a_long_page_takes_as_many_statements_as_a_short_one(wiki: Wiki, monkeypatch) -> None:
    for n in range(3):
        await create(wiki, f"Page {n} {n}")
    counts = []
    with counted(monkeypatch) as sent:
        for size in (1, 50):
            sent.clear()
            page_id = await create(wiki, f"Long {size}", long_body(size))
            created = len(sent)
            await update_page(wiki.database, wiki.scope, page_id, body=long_body(size).replace("[[", "x [["))
            counts.append((created, len(sent) - created))
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 20
    assert len(await wiki.targets(page_id)) == 200


async def test_broken_links_are_resolved_in_a_fixed_number_of_statements(wiki: Wiki, monkeypatch) -> None:
    counts = []
    with counted(monkeypatch) as sent:
        for name, waiting in (("Austin", 1), ("Boston", 20)):
            for n in range(waiting):
                await create(wiki, f"{name} reader {n}", f"[[{name}]]")
            sent.clear()
            page_id = await create(wiki, name)
            counts.append(len(sent))
            assert (await wiki.page(page_id))["hubness_score"] == waiting
    assert counts[0] == counts[1]


async def test_an_upsert_without_changes_writes_nothing(wiki: Wiki, monkeypatch) -> None:
    draft = PageDraft("topic", "Austin", body=long_body(3), tags=["us"], aliases=["ATX"])
    await upsert_page(wiki.database, wiki.scope, draft)
    before = await wiki.rows("pages")
    await upsert_page(wiki.database, wiki.scope, draft)
    assert await wiki.rows("pages") == before


async def test_concurrent_writers_get_different_slugs(wiki: Wiki) -> None:
    ids = await asyncio.gather(*(create(wiki, "Austin", "[[Boston]]") for _ in range(12)), create(wiki, "Boston"))
    assert len({(await wiki.page(page_id))["slug"] for page_id in ids}) == 13


async def test_concurrent_writes_from_one_version_succeed_once(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    writes = [
        patch_section(wiki.database, wiki.scope, page_id, section_slug="notes", body=f"{n}", expected_version=1)
        for n in range(6)
    ]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert [conflict.current_version for conflict in refused] == [2] * 5


async def test_two_pages_cannot_become_each_others_parents_at_the_same_moment(wiki: Wiki) -> None:
    a, b = await create(wiki, "A"), await create(wiki, "B")
    moves = [set_parent(wiki.database, wiki.scope, child, parent_id=parent) for child, parent in ((a, b), (b, a))]
    outcomes = await asyncio.gather(*moves, return_exceptions=True)
    assert sum(isinstance(outcome, BadInput) for outcome in outcomes) == 1


async def test_concurrent_writes_of_every_kind_leave_consistent_rows(wiki: Wiki) -> None:
    ids = [await create(wiki, f"Page {n}", f"[[Page {n + 1}]] [[Name {n}]]") for n in range(4)]
    writes = [
        write
        for n in range(8)
        for write in (
            add_alias(wiki.database, wiki.scope, ids[n % 4], name=f"Name {(n + 1) % 4}"),
            set_parent(wiki.database, wiki.scope, ids[n % 4], parent_id=ids[(n * 3 + 1) % 4]),
            patch_section(wiki.database, wiki.scope, ids[n % 4], section_slug="notes", body=f"[[Page {n}]]"),
            create(wiki, f"Page {n}"),
        )
    ]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert all(not isinstance(outcome, Exception) or isinstance(outcome, BadInput) for outcome in outcomes)


async def test_a_wiki_that_does_not_exist_cannot_be_written(wiki: Wiki) -> None:
    owner_id = new_id()
    scope = wiki.scope.in_owner(owner_id)
    with pytest.raises(NotFound):
        await create_page(wiki.database, scope, PageDraft("topic", "A"))


async def test_a_cancelled_write_releases_the_lock_of_the_wiki(wiki: Wiki) -> None:
    entered = asyncio.Event()

    async def dawdle() -> None:
        async with writing(wiki.database, wiki.scope):
            entered.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(dawdle())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await create(wiki, "Austin")


async def test_a_lost_connection_is_reported_as_unavailable(wiki: Wiki) -> None:
    async def interrupted() -> None:
        async with writing(wiki.database, wiki.scope) as writer:
            await wiki.connection.execute("SELECT pg_terminate_backend($1)", writer.raw.get_server_pid())
            await asyncio.sleep(0.1)
            await writer.raw.execute("SELECT 1")

    with pytest.raises(Unavailable):
        await interrupted()
    await create(wiki, "Austin")


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        (
            "INSERT INTO tenants (tenant_id, slug, name) SELECT tenant_id, slug, name FROM tenants",
            Conflict,
            "tenants_pk",
        ),
        ("UPDATE owners SET kind = 'cat' WHERE tenant_id = $1", BadInput, "owners_kind_ck"),
        ("UPDATE owners SET slug = NULL WHERE tenant_id = $1", BadInput, "cannot hold"),
        (
            "INSERT INTO grants (tenant_id, owner_id, grantee_id, role) VALUES ($1, $1, $1, 'reader')",
            NotFound,
            r"\(grants_\w+_fk\)",
        ),
        ("SELECT 10 ^ 1000", BadInput, "cannot hold"),
        ("SET LOCAL statement_timeout = 20; SELECT pg_sleep(1)", Unavailable, "in a moment"),
    ],
)
async def test_errors_of_postgres_are_translated(wiki: Wiki, statement, error, message) -> None:
    with pytest.raises(error, match=message):
        async with writing(wiki.database, wiki.scope) as writer:
            await writer.raw.execute(statement, *([wiki.scope.tenant_id] if "$1" in statement else []))


async def test_sql_errors_of_the_program_are_not_translated(wiki: Wiki) -> None:
    with pytest.raises(asyncpg.UndefinedTableError):
        async with writing(wiki.database, wiki.scope) as writer:
            await writer.raw.execute("SELECT * FROM nothing")


def test_constraint_names_of_citus_shards_are_recognised() -> None:
    error = asyncpg.UniqueViolationError('duplicate key value violates unique constraint "pages_slug_uq_102051"')
    ours = refusal(error)
    assert isinstance(ours, CairnError)
    assert "(pages_slug_uq)" in ours.message


async def test_no_caller_writes_across_tenants_or_without_a_grant(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin", "Text.")
    source = await add_source(wiki.database, wiki.scope, SourceDraft("url", "r", "c"))
    stranger = (await wiki.neighbour()).with_role(Role.MEMBER)
    here = (stranger.database, stranger.scope)
    writes = [
        update_page(*here, page_id, title="x"),
        patch_section(*here, page_id, section_slug="overview", body="x"),
        add_alias(*here, page_id, name="x"),
        set_parent(*here, page_id, parent_id=None),
        cite_source(*here, page_id=page_id, section_slug="overview", source_id=source.source_id),
        create_page(
            stranger.database, wiki.scope.in_owner(new_id()), PageDraft("topic", "A", sections=[SectionDraft("")])
        ),
    ]
    for write in writes:
        with pytest.raises(NotFound):
            await write
    assert await wiki.actions() == ["page.created", "source.added"]
