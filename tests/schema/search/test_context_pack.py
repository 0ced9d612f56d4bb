"""`wikiContext` loads pages and evidence for a task within a token budget and the rights of the caller."""

from datetime import UTC, datetime
from typing import Any

import pytest

from content.context_pack import tokens
from db.database import Database
from db.scope import Role, Scope
from resolvers.auth.owners import Grant, grant
from resolvers.context import Context
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import supersede_claim
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.context_pack import BUDGET_MAX, QUERY_MAX
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from schema.root import make_engine
from tests.schema.executing import RecordingContext, execute_document, query_data
from tests.schema.world import CALLERS, World
from tests.wiki import Wiki

ENGINE = make_engine()
QUERY = """query ($q: String!, $task: String, $role: String, $budget: Int = 4000, $spaces: [String!]) {
    wikiContext(query: $q, task: $task, role: $role, budgetTokens: $budget, spaces: $spaces) {
        text tokens budgetTokens omitted didYouMean
        items { kind ref title text date isCut superseded score tokens owner { id slug }
            page { ownerId title } section { heading } passage { text source { id ref } } } } }"""


async def packed(context: Context, query: str, **variables: Any) -> dict[str, Any]:
    shown: dict[str, Any] = (await query_data(ENGINE, context, QUERY, q=query, **variables))["wikiContext"]
    assert shown["tokens"] == tokens(shown["text"]) <= shown["budgetTokens"]
    return shown


def titles(pack: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(item["kind"], item["page"] and item["page"]["title"]) for item in pack["items"]]


@pytest.fixture
async def context(wiki: Wiki) -> Context:
    """The context of a member of a wiki with evidence and pages of every loading rule."""
    drafts = [
        PageDraft("context", "Goals", sections=[SectionDraft("We sell pots to cafés.", heading="Why")]),
        PageDraft("standard", "Voice", sections=[SectionDraft("Write short sentences.", heading="Rule")]),
        PageDraft("standard", "Code", sections=[SectionDraft("Use hints.", heading="Rule")], tags=["role:backend"]),
        PageDraft("product", "Blue Teapot", sections=[SectionDraft("It holds a litre.", heading="Size")]),
        PageDraft("topic", "Kiln", sections=[
            SectionDraft("The kiln cracked in the frost.", heading="Damage"), SectionDraft("Ferns.", heading="Else"),
        ]),
    ]  # fmt: skip
    for draft in drafts:
        await create_page(wiki.database, wiki.scope, draft)
    text = "Jon ordered a new burner from Lisbon for the kiln; it costs nine hundred euros."
    draft = SourceDraft("daily_note", "2026-03-02", text, captured_at=datetime(2026, 3, 2, tzinfo=UTC))
    await retain_sources(wiki.database, wiki.scope, [draft])
    return Context(wiki.database, wiki.with_role(Role.MEMBER).scope)


async def test_pages_loaded_by_rule_come_before_search_results(context: Context) -> None:
    pack = await packed(context, "kiln cracked frost")
    assert titles(pack) == [("CONTEXT", "Goals"), ("STANDARD", "Voice"), ("SECTION", "Kiln"), ("PASSAGE", None)]
    assert [item["title"] for item in pack["items"]][2] == "Kiln › Damage", "the section that answers"
    assert pack["items"][3]["passage"]["source"]["ref"] == "2026-03-02"
    assert pack["items"][3]["ref"].startswith("daily_note/2026-03-02:1-1 in ")
    assert "> The kiln cracked in the frost." in pack["text"].splitlines()
    assert pack == await packed(context, "kiln cracked frost"), "the same again"
    named = await packed(context, "frost", task="Describe the blue teapot for the shop", role="Backend")
    assert titles(named)[:4] == [
        ("CONTEXT", "Goals"), ("STANDARD", "Code"), ("STANDARD", "Voice"), ("NAMED", "Blue Teapot"),
    ]  # fmt: skip


async def test_a_page_that_the_task_names_shows_the_lines_that_answer(context: Context, wiki: Wiki) -> None:
    lines = [f"- In week {number} the potter made nothing of it but plans for the weeks after." for number in range(12)]
    lines[7] = "- The glazes cracked in the frost."
    draft = PageDraft("entity", "Mara", sections=[SectionDraft("\n".join(lines), heading="Notes")])
    await create_page(wiki.database, wiki.scope, draft)
    pack = await packed(context, "What glaze cracked?", task="Ask Mara about the glaze")
    (notes,) = (item for item in pack["items"] if item["kind"] == "NAMED")
    assert notes["text"].split("\n") == [lines[0], lines[7], "- … (+10)"]
    assert notes["isCut"]
    whole = await packed(context, "Mara", task="Ask Mara about the weeks of the potter")
    assert next(item for item in whole["items"] if item["kind"] == "NAMED")["text"].count("\n") >= 4


async def test_a_small_budget_is_respected_and_omitted_items_are_counted(context: Context) -> None:
    whole = await packed(context, "kiln cracked frost")
    assert (whole["omitted"], sum(item["isCut"] for item in whole["items"])) == (0, 0)
    for budget in (1, 20, 60, 100, 150):
        small = await packed(context, "kiln cracked frost", budget=budget)
        assert len(small["items"]) + small["omitted"] >= len(whole["items"]) - 1
        assert len(small["items"]) < len(whole["items"])


async def test_pages_in_a_pack_list_their_superseded_claims(wiki: Wiki, context: Context) -> None:
    page = next(row for row in await wiki.rows("pages") if row["title"] == "Kiln")
    claim = {"fact": "cracked in the frost", "replacement": "is whole again"}
    await supersede_claim(wiki.database, wiki.scope, PageAddress(page["id"]), **claim)
    items = (await packed(context, "kiln"))["items"]
    (line,) = next(item["superseded"] for item in items if item["title"].startswith("Kiln"))
    assert line.startswith('Used to say "cracked in the frost" until ')


async def test_evidence_overridden_by_newer_evidence_is_marked(wiki: Wiki, context: Context) -> None:
    newer = "Falcon Mill moved its office from Graz to Linz."
    older = "Falcon Mill moved its office to Graz. Forty potters share a bright hall with three windows there."
    for day, text in enumerate((older, newer), 1):
        draft = SourceDraft("daily_note", f"mill-{day}", text, captured_at=datetime(2026, 3, day, tzinfo=UTC))
        await retain_sources(wiki.database, wiki.scope, [draft])
    items = (await packed(context, "Where does Falcon Mill have its office?"))["items"]
    shown = {item["text"]: item["title"] for item in items if item["kind"] == "PASSAGE"}
    assert shown == {newer: "evidence", older: "evidence, overridden by newer evidence"}


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        ({"budget": 0}, "BAD_USER_INPUT", "budgetTokens"),
        ({"budget": -1}, "BAD_USER_INPUT", "budgetTokens"),
        ({"budget": BUDGET_MAX + 1}, "BAD_USER_INPUT", "budgetTokens"),
        ({"budget": 10**9}, "BAD_USER_INPUT", "budgetTokens"),
        ({"q": "x" * (QUERY_MAX + 1)}, "BAD_USER_INPUT", "query"),
        ({"task": "x" * 100_000}, "BAD_USER_INPUT", "task"),
        ({"role": "x" * 1_000}, "BAD_USER_INPUT", "role"),
        ({"spaces": ["moon"]}, "NOT_FOUND", None),
        ({"spaces": []}, "BAD_USER_INPUT", "spaces"),
    ],
)
async def test_invalid_arguments_have_a_code_and_a_field(
    wiki: Wiki, wrong: dict[str, Any], code: str, field: str
) -> None:
    context = Context(wiki.database, wiki.with_role(Role.MEMBER).scope)
    (error,) = (await execute_document(ENGINE, context, QUERY, **{"q": "kiln"} | wrong))["errors"]
    assert (error["extensions"]["code"], error["extensions"].get("field")) == (code, field)


async def test_archived_pages_and_unreadable_spaces_are_not_loaded(wiki: Wiki, context: Context) -> None:
    goals = next(row for row in await wiki.rows("pages") if row["title"] == "Goals")
    await archive_page(wiki.database, wiki.scope, goals["id"])
    other = await wiki.neighbour()
    await wiki.connection.execute(
        "UPDATE owners SET slug = 'team', kind = 'shared' WHERE id = $1", other.scope.owner_id
    )
    sections = [SectionDraft("The team burns gas.", heading="Why")]
    await create_page(other.database, other.scope, PageDraft("context", "Team", sections=sections))
    assert not {("CONTEXT", "Goals"), ("CONTEXT", "Team")} & set(titles(await packed(context, "kiln")))
    owners = {"owner_id": other.scope.owner_id, "grantee_id": wiki.scope.owner_id}
    await grant(wiki.database, wiki.scope.tenant_id, **owners, role=Grant.READER)
    pack = await packed(context, "kiln")
    (team,) = (item for item in pack["items"] if item["page"] and item["page"]["title"] == "Team")
    assert (team["owner"]["slug"], team["ref"].endswith(" in team")) == ("team", True)


@pytest.mark.parametrize("scope", CALLERS)
async def test_packs_contain_no_row_of_an_unreadable_wiki(world: World, database: Database, scope: Scope) -> None:
    owners = await query_data(ENGINE, RecordingContext(database, scope), "{ wikiOwners(first: 100) { nodes { id } } }")
    readable = {owner["id"] for owner in owners["wikiOwners"]["nodes"]}
    of_source = {str(row["id"]): str(row["owner_id"]) for row in world.tables["sources"]}
    names = " ".join(row["title"] for row in world.tables["pages"] if row["type"] in ("product", "entity", "concept"))
    for query in ("latte", "ref"):
        pack = await packed(RecordingContext(database, scope), query, task=names[:5_000], budget=50_000)
        for item in pack["items"]:
            inside = item["page"]["ownerId"] if item["page"] else of_source[item["passage"]["source"]["id"]]
            assert inside == item["owner"]["id"]
            assert inside in readable
