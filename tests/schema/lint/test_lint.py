"""Every lint check reports its findings, and edits nothing."""

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from content.claims.correction_forms import RENAMED
from db.scope import Role
from db.tables import PAGE_TYPES
from resolvers.context import Context
from resolvers.knowledge.lint import CHECKS, statement_of
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import supersede_claim
from resolvers.pages.claims.contradictions import (
    Claimed,
    Resolution,
    record_contradiction,
    resolve_contradiction,
)
from resolvers.pages.lifecycle import create_page
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from schema.root import make_engine
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.schema.executing import error_code, execute_document
from tests.wiki import Wiki

ENGINE = make_engine()
LINT = """query { wikiLint { name severity total findings { title type slug detail fix page { title } } } }"""


async def linted(wiki: Wiki) -> dict[str, Any]:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), LINT)
    return {one["name"]: one for one in answer["data"]["wikiLint"]}


async def test_every_check_reports_zero_findings_for_an_empty_wiki(wiki: Wiki) -> None:
    found = await linted(wiki)
    assert list(found) == [one.name for one in CHECKS]
    assert {(one["total"], len(one["findings"])) for one in found.values()} == {(0, 0)}
    assert found["unfinished_forgetting"]["severity"] == "ERROR"


async def test_checks_count_the_findings_of_a_flawed_wiki(wiki: Wiki) -> None:
    where = wiki.database, wiki.scope
    for n in range(3):
        await create_page(*where, PageDraft("topic", f"Note {n}", body="See [[Nowhere]] and [[moon:x]]."))
    old = await create_page(*where, PageDraft("topic", "Old", summary="Old.", metadata={"expires": "2020-01-01"}))
    await wiki.connection.execute("UPDATE pages SET updated_at = '2020-01-01' WHERE id = $1", old.page_id)
    await create_page(*where, PageDraft("entity", "Momofuku", slug="elsewhere", aliases=["Momo"], body="x" * 20_001))
    await create_page(*where, PageDraft("entity", "Momo"))
    await create_page(*where, PageDraft("decision", "Undecided"))
    for n in range(3):
        source = await add_source(*where, SourceDraft("daily_note", f"n{n}", "Chef João."))
        await record_mention(*where, name="Chef João", source_id=source.source_id)
    await cite_source(*where, page_id=old.page_id, section_slug="summary", source_id=source.source_id)
    await wiki.connection.execute("UPDATE pages SET updated_at = '2020-01-01' WHERE id = $1", old.page_id)
    await wiki.connection.execute(
        """INSERT INTO forgettings (tenant_id, owner_id, source_id, said)
        SELECT tenant_id, owner_id, id, 'x' FROM sources WHERE ref = 'n0'"""
    )
    await wiki.connection.execute("UPDATE sources SET forgotten_at = '2020-01-01' WHERE ref = 'n0'")
    found = await linted(wiki)
    await wiki.connection.execute("UPDATE sources SET forgotten_at = NULL WHERE ref = 'n0'")
    assert {name: one["total"] for name, one in found.items()} == {
        "unfinished_forgetting": 1, "broken_links": 3, "broken_relations": 0, "unknown_spaces": 3,
        "broken_space_links": 0, "private_links": 0, "expired": 1, "duplicate_aliases": 2, "missing_sources": 4,
        "unknown_sources": 0, "wrong_metadata": 0, "unsaid_sensitivity": 0, "decision_shape": 1, "decision_options": 1,
        "contradictions": 0, "contradicting_pages": 0, "contradiction_loops": 0, "renamed_pages": 0, "similar_names": 0,
        "stray_places": 0, "concept_reasons": 0,
        "missing_metadata": 0, "missing_pages": 1, "plain_names": 0, "unlinked_names": 0, "earned_names": 1,
        "orphans": 7, "stale": 1, "oversize": 1, "missing_summaries": 6, "slug_drift": 1,
    }  # fmt: skip
    assert found["broken_links"]["findings"][0] == {
        "title": "Note 0", "type": "TOPIC", "slug": "note-0", "detail": "nowhere", "fix": "cairn create topic nowhere",
        "page": {"title": "Note 0"},
    }  # fmt: skip
    assert found["earned_names"]["findings"] == [
        {
            "title": "Chef João", "type": None, "slug": None, "detail": "seen in 3 sources",
            "fix": "cairn lint --sweep", "page": None,
        }
    ]  # fmt: skip
    assert found["slug_drift"]["findings"][0]["detail"] == "momofuku"


async def test_a_page_titled_index_is_expected_at_the_slug_index_page(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Index"))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Index", slug="elsewhere"))
    (found,) = (await linted(wiki))["slug_drift"]["findings"]
    assert (found["slug"], found["detail"]) == ("elsewhere", "index-page")


async def test_a_topic_of_generated_lists_needs_no_sources(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Lisbon"))
    await retain_texts(wiki, "page entity Momofuku\nOne.", "to entity Momofuku\nTwo.", city="Lisbon")
    await compile_all(wiki)
    assert any(row["aggregation"] for row in await wiki.rows("sections", "id"))
    assert (await linted(wiki))["missing_sources"]["total"] == 0


async def test_no_check_reports_a_trajectory(wiki: Wiki) -> None:
    draft = PageDraft("entity", "Ana Ruiz", slug="ana", body="Ana lives in Porto.")
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    for fact, replacement in (("in Porto", "in Lisbon"), ("in Lisbon", "in Faro")):
        await supersede_claim(wiki.database, wiki.scope, PageAddress(page_id), fact=fact, replacement=replacement)
    assert await wiki.row("pages", slug="ana-trajectory")
    findings = {name: [one["slug"] for one in check["findings"]] for name, check in (await linted(wiki)).items()}
    assert [name for name, slugs in findings.items() if "ana-trajectory" in slugs] == []
    assert findings["slug_drift"] == ["ana"]


async def test_lint_is_forbidden_to_readers_and_not_found_in_other_wikis(wiki: Wiki) -> None:
    reader = wiki.with_role(Role.READER)
    assert error_code(await execute_document(ENGINE, Context(reader.database, reader.scope), LINT)) == "FORBIDDEN"
    other = await wiki.neighbour(Role.MEMBER)
    text = "query ($o: ID!) { wikiLint(ownerId: $o) { name } }"
    answer = await execute_document(ENGINE, Context(other.database, other.scope), text, o=str(wiki.scope.owner_id))
    assert error_code(answer) == "NOT_FOUND"


async def retained_and_cited(wiki: Wiki, texts: list[str], *page_ids: Any) -> None:
    where = wiki.database, wiki.scope
    for number, text in enumerate(texts):
        at = datetime(2026, 1, 1 + number, tzinfo=UTC)
        source = await add_source(*where, SourceDraft("daily_note", f"day-{number}", text, captured_at=at))
        for page_id in page_ids:
            given = {"page_id": page_id, "section_slug": "overview", "source_id": source.source_id}
            await cite_source(*where, **given)


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (["Northstar delivers.", "Northstar called.", "Northstar is now called Gridworks."], 1),
        (["Northstar delivers.", "Northstar called.", "Northstar heißt jetzt Gridworks."], 1),
        (["Northstar delivers.", "Northstar called.", "Northstar works with Gridworks."], 0),
        (["Northstar is now called Gridworks.", "Northstar called.", "Gridworks called."], 0),
        (["Northstar called.", "Northstar is now called Gridworks."], 0),
    ],
    ids=["renamed", "in German", "not renamed", "no newer evidence", "two sources"],
)
async def test_renamed_entities_are_proposed_for_merging_but_not_merged(
    wiki: Wiki, texts: list[str], count: int
) -> None:
    where = wiki.database, wiki.scope
    pages = [
        (await create_page(*where, PageDraft("entity", title, body="So."))).page_id
        for title in ("Northstar", "Gridworks")
    ]
    await retained_and_cited(wiki, texts, *pages)
    found = (await linted(wiki))["renamed_pages"]
    assert found["total"] == count
    if count:
        (finding,) = found["findings"]
        assert finding["title"] == "Northstar"
        assert finding["detail"].endswith("Merge: cairn merge entity/northstar entity/gridworks")
    assert len(await wiki.rows("pages")) == 2


async def test_reads_of_a_source_do_not_grow_with_its_named_entities(wiki: Wiki) -> None:
    """The texts of one wiki are longer, and reading them for each of 66 pairs would add their blocks 66 times."""
    blocks = {}
    for length, place in ((10, wiki), (200_000, await wiki.neighbour())):
        where = place.database, place.scope
        texts = [f"{random.Random(n).randbytes(length).hex()} is now called Nobody." for n in range(3)]
        entities = [
            (await create_page(*where, PageDraft("entity", f"Entity {n}", body="So."))).page_id for n in range(12)
        ]
        await retained_and_cited(place, texts, *entities)
        blocks[length] = await blocks_read(place, "renamed_pages")
    assert blocks[200_000] - blocks[10] < 66 * 100


async def blocks_read(wiki: Wiki, check: str) -> int:
    """Return the number of blocks that Postgres reads for a check."""
    statement = statement_of((check,))
    given = {"limit": 1, "owners": wiki.scope.owners, "spans": False, "forms": list(RENAMED), "types": list(PAGE_TYPES)}
    scope = {"tenant_id": wiki.scope.tenant_id, "owner_id": wiki.scope.owner_id, "now": datetime.now(UTC)}
    sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.sql}"
    plan = json.loads(await wiki.connection.fetchval(sql, *statement.arguments(scope | given)))[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.parametrize(
    ("titles", "proposals"),
    [
        (("Refactoring English", "Refactoring-English"), ["cairn merge entity/refactoring-english-2"]),
        (("Deborah Lind", "Deborah"), ["cairn merge entity/deborah entity/deborah-lind"]),
        (("Obsidian Sync", "Obsidian Publish", "Obsidian"), []),
        (("Ana", "Annabel"), []),
    ],
    ids=["another spelling", "a first name", "an ambiguous name", "different names"],
)
async def test_similar_names_are_proposed_for_merging_but_not_merged(
    wiki: Wiki, titles: tuple[str, ...], proposals: list[str]
) -> None:
    where = wiki.database, wiki.scope
    pages = [(await create_page(*where, PageDraft("entity", title, body="So."))).page_id for title in titles]
    await retained_and_cited(wiki, ["Both are said."], *pages)
    found = (await linted(wiki))["similar_names"]
    assert found["total"] == len(proposals)
    for finding, proposal in zip(found["findings"], proposals, strict=True):
        assert proposal in finding["detail"]
    assert len(await wiki.rows("pages")) == len(titles)


async def test_undecided_contradictions_are_found(wiki: Wiki) -> None:
    where = wiki.database, wiki.scope
    page = await create_page(*where, PageDraft("entity", "Ana", body="So."))
    older, newer = Claimed("Ana lives in Porto."), Claimed("Ana lives in Faro.")
    contradiction = await record_contradiction(*where, PageAddress(page.page_id), older, newer)
    (finding,) = (await linted(wiki))["contradictions"]["findings"]
    assert finding["detail"] == '"Ana lives in Porto." or "Ana lives in Faro.": somebody has to weigh them'
    assert finding["fix"] == f"cairn wiki resolve {contradiction.id} RESOLUTION REASON", "both are of one moment"
    await resolve_contradiction(*where, contradiction.id, Resolution.BOTH_HOLD, "Two flats.")
    assert (await linted(wiki))["contradictions"]["total"] == 0
