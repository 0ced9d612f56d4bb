"""Clients record, read and resolve contradictions."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.merging import merge_pages
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from schema.root import make_engine
from tests.schema.mutations.test_claims import Ask
from tests.wiki import Wiki

SHOWN = """changed userErrors { code field message } page { version bodyMd }
    claim { fact replacement supersededOn statedBy { ref } overriddenBy { ref } }
    contradiction { id status olderClaim olderSectionSlug olderOn olderSource { ref } newerClaim newerSectionSlug
        newerOn
        newerSource { ref } suggestedResolution resolution reason resolverId page { slug } }"""
RECORD = f"""mutation ($input: RecordWikiContradictionInput!) {{
    done: recordWikiContradiction(input: $input) {{ {SHOWN} }} }}"""
RESOLVE = f"""mutation ($input: ResolveWikiContradictionInput!) {{
    done: resolveWikiContradiction(input: $input) {{ {SHOWN} }} }}"""
LISTED = """query ($status: WikiContradictionStatus, $page: ID) {
    wikiContradictions(status: $status, pageId: $page, first: 5) { totalCount nodes { olderClaim newerClaim } } }"""
SUPERSEDE = """mutation ($input: SupersedeWikiClaimInput!) {
    done: supersedeWikiClaim(input: $input) { userErrors { code message } } }"""
DECIDED = "{ wikiContradictions(first: 5) { nodes { status resolution reason resolverId resolvedAt } } }"
BODY = "Ana lives in Porto.\n\n## Work\n\nAna lives in Lisbon. She leads sales."
MOMENTS = {"old": datetime(2026, 1, 10, tzinfo=UTC), "new": datetime(2026, 3, 2, tzinfo=UTC)}
PAIR = {
    "older": {"claim": "Ana lives in Porto.", "source": {"kind": "DOCUMENT", "ref": "old"}},
    "newer": {"claim": "Ana lives in Lisbon.", "source": {"kind": "DOCUMENT", "ref": "new"}},
}


@pytest.fixture
async def page_id(wiki: Wiki) -> str:
    drafts = [SourceDraft("document", ref, f"It is {ref}.", captured_at=at) for ref, at in MOMENTS.items()]
    await retain_sources(wiki.database, wiki.scope, drafts)
    return str((await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana Ruiz", body=BODY))).page_id)


@pytest.fixture
def ask(wiki: Wiki) -> Ask:
    engine = make_engine()

    async def run(text: str, wiki: Wiki = wiki, **variables: Any) -> Any:
        return orjson.loads((await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))).body)

    return run


async def test_a_contradiction_is_recorded_once_without_changing_the_page(ask: Ask, page_id: str) -> None:
    done = (await ask(RECORD, input={"pageId": page_id, **PAIR}))["data"]["done"]
    found = done["contradiction"]
    assert (done["changed"], done["page"]) == (True, {"version": 1, "bodyMd": BODY})
    assert (found["status"], found["suggestedResolution"], found["resolution"]) == ("OPEN", "KEEP_NEWER", None)
    assert (found["olderSectionSlug"], found["newerSectionSlug"]) == ("overview", "work")
    assert (found["olderSource"], found["newerSource"]) == ({"ref": "old"}, {"ref": "new"})
    assert (found["olderOn"][:10], found["newerOn"][:10]) == ("2026-01-10", "2026-03-02")
    turned = {"pageId": page_id, "older": PAIR["newer"] | {"source": None}, "newer": {"claim": "ana lives in  Porto."}}
    again = (await ask(RECORD, input=turned))["data"]["done"]
    assert (again["changed"], again["contradiction"]["id"]) == (False, found["id"])
    for filters, count in (({"status": "OPEN"}, 1), ({"status": "RESOLVED"}, 0), ({"page": page_id}, 1)):
        answer = await ask(LISTED, **filters)
        assert answer.get("errors") is None, answer
        assert answer["data"]["wikiContradictions"]["totalCount"] == count
    node = "query ($id: ID!) { node(id: $id) { ... on WikiPage { contradictions(status: OPEN) { totalCount } } } }"
    assert (await ask(node, id=page_id))["data"]["node"]["contradictions"]["totalCount"] == 1


@pytest.mark.parametrize(
    ("fact", "resolution", "reason"),
    [
        ("Ana lives in Porto.", "KEEP_NEWER", "The older claim was superseded: Ana lives in Faro."),
        ("Ana lives in Lisbon.", "KEEP_OLDER", "The newer claim was superseded: Ana lives in Faro."),
        ("She leads sales.", None, None),
    ],
)
async def test_superseding_either_claim_resolves_the_contradiction(
    ask: Ask, page_id: str, fact: str, resolution: str | None, reason: str | None
) -> None:
    await ask(RECORD, input={"pageId": page_id, **PAIR})
    done = await ask(SUPERSEDE, input={"pageId": page_id, "fact": fact, "replacement": "Ana lives in Faro."})
    assert done["data"]["done"]["userErrors"] == []
    (found,) = (await ask(DECIDED))["data"]["wikiContradictions"]["nodes"]
    assert (found["resolution"], found["reason"]) == (resolution, reason)
    assert found["status"] == ("RESOLVED" if resolution else "OPEN")
    assert (found["resolverId"] is None, found["resolvedAt"] is None) == (resolution is None, resolution is None)


@pytest.mark.parametrize(
    ("resolution", "fact", "body"),
    [
        ("KEEP_NEWER", "Ana lives in Porto.", "## Work\n\nAna lives in Lisbon. She leads sales."),
        ("KEEP_OLDER", "Ana lives in Lisbon.", "Ana lives in Porto.\n\n## Work\n\nShe leads sales."),
    ],
)
async def test_resolving_a_contradiction_supersedes_the_rejected_claim(
    ask: Ask, page_id: str, resolution: str, fact: str, body: str
) -> None:
    id = (await ask(RECORD, input={"pageId": page_id, **PAIR}))["data"]["done"]["contradiction"]["id"]
    given = {"contradictionId": id, "resolution": resolution, "reason": "She told me."}
    done = (await ask(RESOLVE, input=given))["data"]["done"]
    assert done["userErrors"] == []
    assert done["page"]["bodyMd"].strip() == body
    assert done["claim"]["fact"] == fact
    found = done["contradiction"]
    assert (found["status"], found["resolution"], found["reason"]) == ("RESOLVED", resolution, "She told me.")
    kept_ref = "new" if resolution == "KEEP_NEWER" else "old"
    assert done["claim"]["overriddenBy"] == {"ref": kept_ref}
    if resolution == "KEEP_NEWER":
        assert done["claim"]["supersededOn"][:10] == "2026-03-02"
    again = (await ask(RESOLVE, input=given))["data"]["done"]
    assert (again["changed"], again["page"]["version"]) == (False, 2)
    (error,) = (await ask(RESOLVE, input=given | {"resolution": "BOTH_HOLD"}))["data"]["done"]["userErrors"]
    assert error["field"] == ["resolution"]


async def test_dismissing_a_contradiction_leaves_the_page_unchanged(ask: Ask, page_id: str) -> None:
    id = (await ask(RECORD, input={"pageId": page_id, **PAIR}))["data"]["done"]["contradiction"]["id"]
    given = {"contradictionId": id, "resolution": "BOTH_HOLD", "reason": "She has two flats."}
    done = (await ask(RESOLVE, input=given))["data"]["done"]
    assert (done["contradiction"]["status"], done["claim"], done["page"]["version"]) == ("DISMISSED", None, 1)


async def test_an_invalid_contradiction_is_an_error_of_its_field(ask: Ask, page_id: str) -> None:
    async def refused(older: dict[str, Any], newer: dict[str, Any]) -> Any:
        given = {"pageId": page_id, "older": PAIR["older"] | older, "newer": PAIR["newer"] | newer}
        (error,) = (await ask(RECORD, input=given))["data"]["done"]["userErrors"]
        return error["field"]

    assert await refused({"claim": " "}, {}) == ["older", "claim"]
    assert await refused({}, {"claim": "Ana lives  in Porto."}) == ["newer", "claim"]
    assert await refused({}, {"source": {"kind": "DOCUMENT", "ref": "none"}}) == ["newer", "source", "ref"]
    assert await refused({"sectionSlug": "none"}, {}) == ["older", "sectionSlug"]
    assert await refused({"on": "2026-05-01T00:00:00Z"}, {}) == ["newer", "on"]
    assert (await ask(LISTED))["data"]["wikiContradictions"]["totalCount"] == 0


async def test_contradictions_move_to_the_target_of_a_page_merge(wiki: Wiki, ask: Ask, page_id: str) -> None:
    await ask(RECORD, input={"pageId": page_id, **PAIR})
    other = (await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana", body="Herself."))).page_id
    await merge_pages(wiki.database, wiki.scope, (await wiki.row("contradictions"))["page_id"], other)
    (row,) = await wiki.rows("contradictions")
    assert row["page_id"] == other


async def test_contradictions_of_another_wiki_are_not_found(wiki: Wiki, ask: Ask, page_id: str) -> None:
    id = (await ask(RECORD, input={"pageId": page_id, **PAIR}))["data"]["done"]["contradiction"]["id"]
    stranger = await wiki.neighbour(Role.MEMBER)
    given = {"contradictionId": id, "resolution": "BOTH_HOLD", "reason": "So."}
    for text, input in ((RECORD, {"pageId": page_id, **PAIR}), (RESOLVE, given)):
        answer = await ask(text, stranger, input=input)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert (await ask(LISTED, stranger, page=page_id))["data"]["wikiContradictions"]["totalCount"] == 0
    answer = await ask(RESOLVE, wiki.with_role(Role.READER), input=given)
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
