"""`cairn reindex`, the reindexing by `cairn migrate`, and the language of a search index."""

import asyncio
import json
import os
import signal
from pathlib import Path

import asyncpg
import pytest

from content.languages import LANGUAGES
from content.search.words import ANALYSER
from resolvers.errors import Unavailable
from resolvers.search import reindexing
from tests.app.command_line import CommandResult, RunCommand
from tests.forked import Command

TENANT = ("--tenant", "acme")
MARA = (*TENANT, "--owner", "mara")
TABLES = ("search_pages", "search_counts", "search_vocabulary", "search_changes", "search_scopes")


@pytest.fixture
def run_in_acme(run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch, dsn: str, tmp_path: Path) -> RunCommand:
    """Return a function that runs a command on two wikis: three pages are mara's, two are team's."""
    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    assert run_cairn("tenants", "create", "acme").code == 0
    for owner, pages in (("mara", 3), ("team", 2)):
        assert run_cairn("owners", "create", owner, *TENANT, "--kind", "user").code == 0
        lines = [{"title": f"{owner} {n}", "type": "topic", "body": "The harbour."} for n in range(pages)]
        notes = tmp_path / f"{owner}.jsonl"
        notes.write_text("\n".join(map(json.dumps, lines)))
        assert run_cairn("import", str(notes), *TENANT, "--owner", owner).code == 0
    return run_cairn


def execute(dsn: str, *statements: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    asyncio.run(run())


@pytest.fixture
def run_after_upgrade(run_in_acme: RunCommand, dsn: str) -> RunCommand:
    """Return a function that runs a command on a database after an upgrade from a release without this search."""
    execute(dsn, *(f"DELETE FROM {table}" for table in TABLES))
    return run_in_acme


def indexed_counts(result: CommandResult) -> tuple[int, int]:
    """Return the numbers of wikis and pages that a command has indexed."""
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert report.keys() == {"wikis", "pages", "sources", "seconds"}
    assert 0 <= report["seconds"] < 60
    return report["wikis"], report["pages"]


def test_all_wikis_are_indexed_once(run_after_upgrade: RunCommand) -> None:
    assert indexed_counts(run_after_upgrade("reindex", "--json")) == (2, 5)
    assert indexed_counts(run_after_upgrade("reindex", "--json")) == (0, 0)
    assert (
        run_after_upgrade("reindex").out
        == "Every page and source is already indexed. To index them again, run: cairn reindex --again\n"
    )
    assert indexed_counts(run_after_upgrade("reindex", "--again", "--json")) == (2, 5)


def test_reindex_can_be_limited_to_a_tenant_or_an_owner(run_after_upgrade: RunCommand) -> None:
    assert run_after_upgrade("tenants", "create", "other").code == 0
    assert indexed_counts(run_after_upgrade("reindex", "--tenant", "other", "--json")) == (0, 0)
    output = run_after_upgrade("reindex", *TENANT, "--owner", "team").out
    assert output.startswith("Indexed 2 pages of 1 wiki in ")
    assert indexed_counts(run_after_upgrade("reindex", *TENANT, "--json")) == (1, 3)
    assert indexed_counts(run_after_upgrade("reindex", *MARA, "--again", "--json")) == (1, 3)


def test_an_interrupted_reindexing_continues_in_every_wiki(
    run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*arguments: object, **options: object) -> int:
        raise Unavailable("The wiki is locked by other writes. Try again in a moment.")

    with monkeypatch.context() as patch:
        patch.setattr(reindexing, "reindex", busy)
        assert run_in_acme("reindex", "--again").code == 1
    assert indexed_counts(run_in_acme("reindex", "--json")) == (2, 5)
    assert indexed_counts(run_in_acme("reindex", "--json")) == (0, 0)


def test_migrate_indexes_every_wiki_that_lacks_an_index(run_after_upgrade: RunCommand) -> None:
    result = run_after_upgrade("migrate", "--no-reindex")
    assert "Search still has to index 5 pages of 2 wikis. Run: cairn reindex\n" in result.err
    skipped = run_after_upgrade("migrate", "--no-reindex", "--json")
    assert json.loads(skipped.out) == {"applied": [], "unread": {"wikis": 2, "pages": 5, "sources": 0}}
    result = run_after_upgrade("migrate", "--json")
    assert "Search still has to index 5 pages of 2 wikis\n" in result.err
    reindexed = json.loads(result.out)["reindexed"]
    assert (reindexed["wikis"], reindexed["pages"]) == (2, 5)
    again = run_after_upgrade("migrate")
    assert (again.out, again.err) == ("The database schema is up to date.\n", "")


def test_migrate_keeps_the_index_of_the_previous_release_for_its_servers(run_in_acme: RunCommand, dsn: str) -> None:
    execute(dsn, *(f"UPDATE {table} SET analyser = {ANALYSER - 1}" for table in TABLES))
    result = run_in_acme("migrate")
    assert "Search still has to index 5 pages of 2 wikis\n" in result.err
    assert result.err.endswith("Once they are replaced, run: cairn reindex\n")
    for owner, pages in (("mara", 3), ("team", 2)):
        assert pages_by_index(dsn)[owner, ANALYSER - 1] == pages_by_index(dsn)[owner, ANALYSER] == pages
    again = run_in_acme("migrate")
    assert again.err.startswith("Servers of the previous release"), "nothing is read twice"
    assert indexed_counts(run_in_acme("reindex", "--json")) == (2, 0)
    assert pages_by_index(dsn) == {("mara", ANALYSER): 3, ("team", ANALYSER): 2}
    assert run_in_acme("migrate").err == ""


def pages_by_index(dsn: str) -> dict[tuple[str, int], int]:
    """Return how many pages each index has."""

    async def run() -> dict[tuple[str, int], int]:
        connection = await asyncpg.connect(dsn)
        sql = "SELECT o.slug, s.analyser, count(*) FROM search_pages s JOIN owners o ON o.id = s.owner_id GROUP BY 1, 2"
        found = {(slug, analyser): pages for slug, analyser, pages in await connection.fetch(sql)}
        await connection.close()
        return found

    return asyncio.run(run())


def test_a_reindex_error_names_the_command_that_continues(
    run_after_upgrade: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*arguments: object, **options: object) -> int:
        raise Unavailable("The wiki is locked by other writes. Try again in a moment.")

    monkeypatch.setattr(reindexing, "reindex", busy)
    for words in (["reindex"], ["migrate"]):
        error = run_after_upgrade(*words, "--json").error
        assert error["code"] == "UNAVAILABLE"
        assert error["message"].startswith("The wiki is locked by other writes.")
        assert error["message"].endswith("Progress is saved. To continue, run: cairn reindex")


@pytest.mark.parametrize("words", [[], ["--again"]], ids=str)
def test_ctrl_c_stops_a_reindex_that_can_be_continued(
    run_after_upgrade: RunCommand, dsn: str, words: list[str]
) -> None:
    """The command waits for a wiki that another session has locked."""

    async def stop() -> tuple[int, str]:
        connection = await asyncpg.connect(dsn)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
        async with connection.transaction():
            await connection.execute("SELECT id FROM owners FOR UPDATE")
            with Command(["reindex", *words], {"PATH": os.environ["PATH"], "CAIRN_DATABASE_URL": dsn}) as process:
                async with asyncio.timeout(60):
                    while await connection.fetchval(waiting) < 1:
                        await asyncio.sleep(0.1)
                process.send_signal(signal.SIGINT)
                _, stderr = process.communicate(timeout=30)
                code = process.wait()
        await connection.close()
        return code, stderr

    code, stderr = asyncio.run(stop())
    assert code == 130
    assert stderr == "Stopped. Progress is saved. To continue, run: cairn reindex\n"
    assert indexed_counts(run_after_upgrade("reindex", "--json")) == (2, 5)


def test_an_owner_is_created_and_listed_with_a_language(run_in_acme: RunCommand) -> None:
    created = run_in_acme("owners", "create", "ida", *TENANT, "--kind", "user", "--language", "de-AT", "--json")
    assert json.loads(created.out)["language"] == "german"
    listed = json.loads(run_in_acme("owners", "list", *TENANT, "--json").out)
    assert [(owner["slug"], owner["language"]) for owner in listed] == [
        ("ida", "german"),
        ("mara", "english"),
        ("team", "english"),
    ]


def test_a_new_language_applies_to_existing_pages_after_reindexing(run_in_acme: RunCommand) -> None:
    lines = run_in_acme("owners", "language", "mara", "German", *TENANT).out.splitlines()
    assert lines == [
        "The language of mara's wiki is now german.",
        "To index its pages in this language, run: cairn reindex --tenant acme --owner mara",
    ]
    assert indexed_counts(run_in_acme(*lines[1].partition("cairn ")[2].split(), "--json")) == (1, 3)
    assert (
        run_in_acme("owners", "language", "mara", "fr", *TENANT, "--reindex").out
        == "The language of mara's wiki is now french.\n"
    )
    assert indexed_counts(run_in_acme("reindex", "--json")) == (0, 0)


def test_the_error_of_an_unknown_language_lists_the_known_languages(run_in_acme: RunCommand) -> None:
    error = run_in_acme("owners", "language", "mara", "klingon", *TENANT, "--json").error
    assert all(name in error["message"] for name in LANGUAGES)


def test_a_language_without_a_stemmer_in_postgres_is_refused(
    run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolvers.auth.wiki_settings.find_configuration", lambda text: "klingon")
    error = run_in_acme("owners", "language", "mara", "tlh", *TENANT, "--json").error
    assert error["code"] == "BAD_USER_INPUT"
    assert error["message"].startswith("This Postgres has no stemmer for klingon")


def test_a_note_is_indexed_in_the_language_of_its_front_matter(
    run_in_acme: RunCommand, dsn: str, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "haus.md").write_text("---\ntitle: Häuser\nlang: de\n---\nDie Häuser standen dort.\n")
    (vault / "house.md").write_text("---\ntitle: Houses\n---\nThe houses were standing there.\n")
    assert run_in_acme("import", str(vault), *MARA).code == 0
    assert lexemes(dsn, "Häuser") >= {"haus", "stand"}
    assert lexemes(dsn, "Houses") >= {"hous", "stand"}
    assert indexed_counts(run_in_acme("reindex", *MARA, "--again", "--json")) == (1, 5)
    assert lexemes(dsn, "Häuser") >= {"haus", "stand"}


def lexemes(dsn: str, title: str) -> set[str]:
    """Return the lexemes of a page, each without the letter of its wiki."""
    sql = """
        SELECT array_agg(substr(lexeme, 2)) FROM pages p
        JOIN search_pages s ON s.page_id = p.id AND s.tenant_id = p.tenant_id, unnest(s.tsv) WHERE p.title = $1
    """

    async def run() -> set[str]:
        connection = await asyncpg.connect(dsn)
        found = await connection.fetchval(sql, title)
        await connection.close()
        return set(found)

    return asyncio.run(run())
