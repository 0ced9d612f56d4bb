"""Clients supersede claims, read superseded claims and withdraw them."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.wiki import Wiki

Ask = Callable[..., Coroutine[Any, Any, Any]]
SHOWN = """changed matchedBy claim { id fact replacement sectionSlug heading supersededOn statedBy { ref }
    overriddenBy { ref } authorKind authorId page { slug } } page { version bodyMd }
    userErrors { code field message } conflict { currentVersion } failure { passesTried } ambiguity { count }"""
SUPERSEDE = f"mutation ($input: SupersedeWikiClaimInput!) {{ done: supersedeWikiClaim(input: $input) {{ {SHOWN} }} }}"
WITHDRAW = """mutation ($input: WithdrawWikiSupersededClaimInput!) {
    done: withdrawWikiSupersededClaim(input: $input) { changed claim { id } page { version } } }"""
CLAIMS = """query ($id: ID!) { node(id: $id) { ... on WikiPage {
    supersededClaims(first: 1) { totalCount nodes { fact } pageInfo { hasNextPage } } } } }"""
NEWER = {"kind": "DOCUMENT", "ref": "doc-1"}


@pytest.fixture
async def page_id(wiki: Wiki) -> str:
    draft = PageDraft("entity", "Ana Ruiz", body="Ana lives in Porto.\n\n## Work\n\nShe leads sales. She leads sales.")
    return str((await create_page(wiki.database, wiki.scope, draft)).page_id)


@pytest.fixture
def ask(wiki: Wiki) -> Ask:
    engine = make_engine()

    async def run(text: str, wiki: Wiki = wiki, **variables: Any) -> Any:
        return orjson.loads((await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))).body)

    return run


async def test_superseded_claims_are_listed_newest_first(wiki: Wiki, ask: Ask, page_id: str) -> None:
    await wiki.add_source()
    given = {"fact": "lives in Porto", "replacement": "lives in Lisbon", "supersededOn": "2026-03-02T00:00:00Z"}
    done = (await ask(SUPERSEDE, input={"pageId": page_id, **given, "overriddenBy": NEWER}))["data"]["done"]
    claim = done["claim"]
    assert (done["changed"], done["matchedBy"], done["userErrors"]) == (True, "EXACT", [])
    assert done["page"] == {
        "version": 2,
        "bodyMd": "Ana lives in Lisbon.\n\n## Work\n\nShe leads sales. She leads sales.",
    }
    assert (claim["fact"], claim["replacement"], claim["sectionSlug"]) == (*list(given.values())[:2], "overview")
    assert (claim["supersededOn"], claim["statedBy"]) == ("2026-03-02T00:00:00.000000Z", None)
    assert (claim["overriddenBy"], claim["authorKind"], claim["authorId"]) == ({"ref": "doc-1"}, "USER", "marco")
    again = (await ask(SUPERSEDE, input={"pageId": page_id, **given, "overriddenBy": NEWER}))["data"]["done"]
    assert (again["changed"], again["claim"]["id"]) == (False, claim["id"])
    alone = "query ($id: ID!) { node(id: $id) { ... on WikiPage { trajectory { fact } } } }"
    assert (await ask(alone, id=page_id))["data"]["node"]["trajectory"] == []
    late = {"fact": "in Lisbon", "replacement": "in Faro", "type": "ENTITY", "slug": "ana-ruiz"}
    await ask(SUPERSEDE, input={**late, "supersededOn": "2026-05-02T00:00:00Z"})
    found = (await ask(CLAIMS, id=page_id))["data"]["node"]["supersededClaims"]
    assert found == {"totalCount": 2, "nodes": [{"fact": "in Lisbon"}], "pageInfo": {"hasNextPage": True}}
    way = "query ($id: ID!) { node(id: $id) { ... on WikiPage { trajectory { fact replacement } } } }"
    assert (await ask(way, id=page_id))["data"]["node"]["trajectory"] == [
        {"fact": "lives in Porto", "replacement": "lives in Lisbon"},
        {"fact": "in Lisbon", "replacement": "in Faro"},
    ]
    node = "query ($id: ID!) { node(id: $id) { __typename ... on WikiSupersededClaim { fact page { slug } } } }"
    assert (await ask(node, id=claim["id"]))["data"]["node"] == {
        "__typename": "WikiSupersededClaim", "fact": "lives in Porto", "page": {"slug": "ana-ruiz"},
    }  # fmt: skip


async def test_a_claim_that_cannot_be_superseded_is_a_typed_error(ask: Ask, page_id: str) -> None:
    async def refused(**given: Any) -> Any:
        base = {"pageId": page_id, "fact": "lives in Porto", "replacement": "lives in Lisbon"}
        return (await ask(SUPERSEDE, input=base | given))["data"]["done"]

    assert (await refused(fact="lives in Rome"))["failure"]["passesTried"]
    assert (await refused(fact="She leads sales."))["ambiguity"] == {"count": 2}
    assert (await refused(expectedVersion=5))["conflict"] == {"currentVersion": 1}
    (error,) = (await refused(overriddenBy={"kind": "DOCUMENT", "ref": "none"}))["userErrors"]
    assert error["field"] == ["overriddenBy", "ref"]
    (error,) = (await refused(fact=""))["userErrors"]
    assert error["field"] == ["fact"]
    assert (await ask(CLAIMS, id=page_id))["data"]["node"]["supersededClaims"]["totalCount"] == 0


async def test_a_superseded_claim_is_withdrawn_once(ask: Ask, page_id: str) -> None:
    done = (await ask(SUPERSEDE, input={"pageId": page_id, "fact": "Porto", "replacement": "Faro"}))["data"]["done"]
    for changed in (True, False):
        gone = (await ask(WITHDRAW, input={"claimId": done["claim"]["id"]}))["data"]["done"]
        assert (gone["changed"], gone["page"]) == (changed, {"version": 2})
    assert (await ask(CLAIMS, id=page_id))["data"]["node"]["supersededClaims"]["nodes"] == []


async def test_claims_of_another_wiki_are_not_found(wiki: Wiki, ask: Ask, page_id: str) -> None:
    given = {"pageId": page_id, "fact": "Porto", "replacement": "Faro"}
    claim = (await ask(SUPERSEDE, input=given))["data"]["done"]["claim"]["id"]
    stranger = await wiki.neighbour(Role.MEMBER)
    for text, input in ((SUPERSEDE, given | {"fact": "lives in"}), (WITHDRAW, {"claimId": claim})):
        answer = await ask(text, stranger, input=input)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert (await ask(CLAIMS, stranger, id=page_id))["data"]["node"] is None
    reader = wiki.with_role(Role.READER)
    answer = await ask(WITHDRAW, reader, input={"claimId": claim})
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
