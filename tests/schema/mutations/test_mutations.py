"""Mutations answer with the changed page, with user errors, or with a conflict if the version is stale."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from graphql import is_object_type

from db.scope import Role
from resolvers.context import Context
from schema.root import GRAPHQL, make_engine
from tests.wiki import Wiki

Ask = Callable[..., Coroutine[Any, Any, dict[str, Any]]]
PAGE = "page { id title slug version status summary tags bodyMd aliases sections { sectionSlug heading bodyMd } }"
ANSWER = f"created changed userErrors {{ code field message }} conflict {{ currentVersion page {{ version }} }} {PAGE}"


@pytest.fixture
def ask(wiki: Wiki) -> Ask:
    engine = make_engine()

    async def run(text: str, **variables: Any) -> dict[str, Any]:
        answer = await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))
        result: dict[str, Any] = json.loads(answer.body)
        return result

    return run


@pytest.fixture
def change(ask: Ask) -> Ask:
    """A function that calls a page mutation by name and returns its payload."""

    async def run(name: str, /, **input: Any) -> dict[str, Any]:
        type_ = input_type(name)
        answer = await ask(f"mutation($input: {type_}) {{ {name}(input: $input) {{ {ANSWER} }} }}", input=input)
        assert "errors" not in answer, answer
        payload: dict[str, Any] = answer["data"][name]
        return payload

    return run


def input_type(name: str) -> str:
    assert GRAPHQL.mutation_type is not None
    return str(GRAPHQL.mutation_type.fields[name].args["input"].type)


async def make(change: Ask, title: str = "Austin, Texas", **more: Any) -> dict[str, Any]:
    payload = await change("createWikiPage", type="TOPIC", title=title, **more)
    assert payload["created"], payload
    page: dict[str, Any] = payload["page"]
    return page


async def test_a_page_is_created_with_all_its_fields(change: Ask) -> None:
    page = await make(
        change, summary="A city.", tags=["city"], aliases=["ATX"], bodyMd="## Summary\n\nHot.\n\n## Highlights\n\nBats."
    )
    assert page | {"id": ""} == {
        "id": "",
        "title": "Austin, Texas",
        "slug": "austin-texas",
        "version": 1,
        "status": "ACTIVE",
        "summary": "A city.",
        "tags": ["city"],
        "bodyMd": "## Summary\n\nHot.\n\n## Highlights\n\nBats.",
        "aliases": ["atx", "austin texas"],
        "sections": [
            {"sectionSlug": "summary", "heading": "Summary", "bodyMd": "Hot."},
            {"sectionSlug": "highlights", "heading": "Highlights", "bodyMd": "Bats."},
        ],
    }


async def test_an_invalid_input_is_reported_with_its_path(change: Ask) -> None:
    sections = [{"bodyMd": "fine", "heading": "A"}, {"bodyMd": "## not here", "heading": "B"}]
    payload = await change("createWikiPage", type="TOPIC", title="T", sections=sections)
    (error,) = payload["userErrors"]
    assert (error["code"], error["field"]) == ("BAD_USER_INPUT", ["sections", "1", "bodyMd"])
    assert payload["page"] is None
    assert not payload["created"]


async def test_a_taken_slug_has_a_code_of_its_own(change: Ask) -> None:
    first = {"type": "TOPIC", "title": "Austin", "slug": "austin"}
    page = (await change("createWikiPage", **first))["page"]
    (error,) = (await change("createWikiPage", **first))["userErrors"]
    assert (error["code"], error["field"]) == ("SLUG_TAKEN", ["slug"])
    other = (await change("createWikiPage", type="TOPIC", title="Texas"))["page"]
    (error,) = (await change("updateWikiPage", pageId=other["id"], slug="austin"))["userErrors"]
    assert (error["code"], error["field"]) == ("SLUG_TAKEN", ["slug"])
    await change("updateWikiPage", pageId=page["id"], slug="atx")
    (error,) = (await change("createWikiPage", **first))["userErrors"]
    assert error["code"] == "SLUG_TAKEN"


async def test_upsert_keeps_fields_and_sections_that_are_absent(change: Ask) -> None:
    await make(change, summary="A city.", sections=[{"sectionSlug": "summary", "bodyMd": "Hot."}])
    payload = await change(
        "upsertWikiPage",
        type="TOPIC",
        slug="austin-texas",
        title="Austin",
        sections=[{"heading": "Notes", "bodyMd": "N."}],
    )
    assert not payload["created"]
    assert payload["changed"]
    page = payload["page"]
    assert (page["title"], page["summary"], page["version"]) == ("Austin", "A city.", 2)
    assert [section["bodyMd"] for section in page["sections"]] == ["Hot.", "N."]
    again = await change("upsertWikiPage", type="TOPIC", slug="austin-texas", title="Austin")
    assert not again["changed"]
    assert again["page"]["version"] == 2


async def test_null_clears_a_field_and_absence_keeps_its_value(change: Ask) -> None:
    page = await make(change, summary="A city.", tags=["city"])
    kept = await change("updateWikiPage", pageId=page["id"], title="Austin")
    assert (kept["page"]["summary"], kept["page"]["tags"]) == ("A city.", ["city"])
    cleared = await change("updateWikiPage", pageId=page["id"], summary=None, tags=[])
    assert (cleared["page"]["summary"], cleared["page"]["tags"]) == (None, [])


@pytest.mark.parametrize("name", ["updateWikiPage", "patchWikiSection", "removeWikiSection", "moveWikiSection"])
async def test_a_stale_version_is_a_conflict_that_shows_the_page(change: Ask, name: str) -> None:
    page = await make(change, sections=[{"sectionSlug": "summary", "bodyMd": "Hot."}])
    await change("updateWikiPage", pageId=page["id"], title="Austin")
    more = {
        "updateWikiPage": {"title": "Mine"},
        "patchWikiSection": {"sectionSlug": "summary", "bodyMd": "Mine."},
        "removeWikiSection": {"sectionSlug": "summary"},
        "moveWikiSection": {"sectionSlug": "summary", "position": 0},
    }
    payload = await change(name, pageId=page["id"], expectedVersion=1, **more[name])
    assert payload["conflict"] == {"currentVersion": 2, "page": {"version": 2}}
    assert payload["page"] is None


async def test_a_stale_upsert_is_a_conflict_that_shows_the_page(change: Ask) -> None:
    await make(change)
    payload = await change("upsertWikiPage", type="TOPIC", title="Austin, Texas", summary="Mine", expectedVersion=9)
    assert payload["conflict"] == {"currentVersion": 1, "page": {"version": 1}}


async def test_sections_are_patched_moved_and_removed(change: Ask) -> None:
    page = await make(change, sections=[{"heading": "One", "bodyMd": "1"}, {"heading": "Two", "bodyMd": "2"}])
    await change("patchWikiSection", pageId=page["id"], sectionSlug="one", bodyMd="uno")
    await change("patchWikiSection", pageId=page["id"], sectionSlug="three", heading="Three", bodyMd="3")
    await change("moveWikiSection", pageId=page["id"], sectionSlug="three", position=0)
    payload = await change("removeWikiSection", pageId=page["id"], sectionSlug="two")
    assert payload["page"]["bodyMd"] == "## Three\n\n3\n\n## One\n\nuno"
    assert payload["page"]["version"] == 5


async def test_aliases_links_and_parents_are_set_and_removed(change: Ask, ask: Ask) -> None:
    city, act = await make(change), await make(change, "Austin Activities")
    named = await change("addWikiAlias", pageId=city["id"], name="The Live Music Capital!")
    assert "the live music capital" in named["page"]["aliases"]
    named = await change("removeWikiAlias", pageId=city["id"], name="the live MUSIC capital")
    assert named["page"]["aliases"] == ["austin texas"]
    await change("linkWikiPages", fromPageId=city["id"], toPageId=act["id"], reason="planner")
    await change("linkWikiPages", fromPageId=city["id"], toPageId=act["id"])
    await change("setWikiParent", pageId=act["id"], parentId=city["id"])
    text = """query($id: ID!) { node(id: $id) { ... on WikiPage {
        parent { title } backlinks { edges { kinds node { title } } } links { nodes { kind reasons } } } } }"""
    seen = (await ask(text, id=act["id"]))["data"]["node"]
    assert seen["parent"] == {"title": "Austin, Texas"}
    assert seen["backlinks"]["edges"] == [{"kinds": ["PARENT_OF", "REFERENCE"], "node": {"title": "Austin, Texas"}}]
    assert seen["links"]["nodes"] == [{"kind": "CHILD_OF", "reasons": ["hierarchy"]}]
    await change("unlinkWikiPages", fromPageId=city["id"], toPageId=act["id"], reason="planner")
    await change("setWikiParent", pageId=act["id"])
    seen = (await ask(text, id=act["id"]))["data"]["node"]
    assert seen["parent"] is None
    assert seen["backlinks"]["edges"] == [{"kinds": ["REFERENCE"], "node": {"title": "Austin, Texas"}}]


async def test_sources_are_deduplicated_versioned_and_cited(change: Ask, ask: Ask) -> None:
    page = await make(change, sections=[{"sectionSlug": "summary", "bodyMd": "Hot."}])
    text = """mutation($input: AddWikiSourceInput!) { addWikiSource(input: $input) {
        created userErrors { field } source { id version checksum content supersedes { version } } } }"""
    evidence = {"kind": "DAILY_NOTE", "ref": "2026-04-01", "content": "It was hot.\nVery."}
    first = (await ask(text, input=evidence))["data"]["addWikiSource"]
    same = (await ask(text, input=evidence))["data"]["addWikiSource"]
    assert (first["created"], same["created"]) == (True, False)
    assert first["source"] == same["source"]
    newer = (await ask(text, input=evidence | {"content": "It was cold."}))["data"]["addWikiSource"]
    assert newer["source"]["supersedes"] == {"version": 1}
    cite = """mutation($input: CiteWikiSourceInput!) { citeWikiSource(input: $input) {
        userErrors { field } citation { lineStart page { title } section { sectionSlug }
        source { pageCount pages { nodes { title } } } } } }"""
    cited = {
        "pageId": page["id"],
        "sectionSlug": "summary",
        "sourceId": first["source"]["id"],
        "lineStart": 1,
        "lineEnd": 1,
    }
    done = (await ask(cite, input=cited))["data"]["citeWikiSource"]["citation"]
    assert done["page"] == {"title": "Austin, Texas"}
    assert done["source"] == {"pageCount": 1, "pages": {"nodes": [{"title": "Austin, Texas"}]}}
    wrong = (await ask(cite, input=cited | {"lineEnd": 99}))["data"]["citeWikiSource"]
    assert wrong["citation"] is None
    assert wrong["userErrors"] == [{"field": ["lineEnd"]}]


async def test_a_citation_quotes_the_last_lines_of_a_long_source(change: Ask, ask: Ask, wiki: Wiki) -> None:
    page = await make(change, sections=[{"sectionSlug": "summary", "bodyMd": "Hot."}])
    source = await wiki.add_source(content="It rained.\n" * 90_000 + "It was hot.\nVery.")
    cite = "mutation($input: CiteWikiSourceInput!) { citeWikiSource(input: $input) { citation { quote } } }"
    cited = {"pageId": page["id"], "sectionSlug": "summary", "sourceId": str(source)}
    quotes = []
    for start, end in ((90_001, 90_002), (89_999, 90_002), (1, 2), (1, 90_002)):
        answer = await ask(cite, input=cited | {"lineStart": start, "lineEnd": end})
        quotes.append(answer["data"]["citeWikiSource"]["citation"]["quote"])
    hot, rain = "It was hot.\nVery.", "It rained.\n"
    assert quotes == [hot, 2 * rain + hot, f"{rain}It rained.", (rain * 60)[:600]]


async def test_a_mention_is_recorded_once_and_stays_ignored(ask: Ask, wiki: Wiki) -> None:
    source = str(await wiki.add_source())
    text = """mutation($input: RecordWikiMentionInput!) { recordWikiMention(input: $input) {
        userErrors { field } mention {
        id name alias status mentionCount contexts { quote sourceId } sources { nodes { ref } } } } }"""
    seen = {"name": "Chef João", "sourceId": source, "quote": "Chef João cooked.", "suggestedType": "ENTITY"}
    mention = (await ask(text, input=seen))["data"]["recordWikiMention"]["mention"]
    again = (await ask(text, input=seen))["data"]["recordWikiMention"]["mention"]
    assert again == mention
    assert (mention["alias"], mention["mentionCount"], mention["status"]) == ("chef joao", 1, "OPEN")
    assert mention["contexts"] == [{"quote": "Chef João cooked.", "sourceId": source}]
    ignore = "mutation($id: ID!) { ignoreWikiMention(input: {mentionId: $id}) { mention { status } } }"
    assert (await ask(ignore, id=mention["id"]))["data"]["ignoreWikiMention"]["mention"] == {"status": "IGNORED"}
    assert (await ask(text, input=seen))["data"]["recordWikiMention"]["mention"]["status"] == "IGNORED"


async def test_pages_are_archived_unarchived_and_deleted(change: Ask, ask: Ask) -> None:
    page = await make(change)
    assert (await change("archiveWikiPage", pageId=page["id"]))["page"]["status"] == "ARCHIVED"
    assert (await ask("{ recentWikiPages { id } }"))["data"] == {"recentWikiPages": []}
    assert (await change("unarchiveWikiPage", pageId=page["id"]))["page"]["status"] == "ACTIVE"
    assert (await ask("mutation { archiveWikiScope(input: {}) { pagesArchived } }"))["data"] == {
        "archiveWikiScope": {"pagesArchived": 1}
    }
    back = await change("upsertWikiPage", type="TOPIC", title="Austin, Texas", markCompiled=True)
    assert back["page"]["status"] == "ACTIVE"
    gone = await ask("mutation($id: ID!) { deleteWikiPage(input: {pageId: $id}) { deletedPageId } }", id=page["id"])
    assert gone["data"] == {"deleteWikiPage": {"deletedPageId": page["id"]}}
    assert (await ask("query($id: ID!) { node(id: $id) { id } }", id=page["id"]))["data"] == {"node": None}


async def test_an_old_slug_resolves_and_reports_the_redirect(change: Ask, ask: Ask, wiki: Wiki) -> None:
    page = await make(change)
    await change("updateWikiPage", pageId=page["id"], slug="austin")
    text = "query($t: ID!, $s: String!) { wikiPage(tenantId: $t, type: TOPIC, slug: $s) { slug redirectedFrom } }"
    tenant = str(wiki.scope.tenant_id)
    moved = await ask(text, t=tenant, s="austin-texas")
    assert moved["data"]["wikiPage"] == {"slug": "austin", "redirectedFrom": "austin-texas"}
    assert (await ask(text, t=tenant, s="austin"))["data"]["wikiPage"]["redirectedFrom"] is None


async def test_unknown_pages_are_not_found(ask: Ask, wiki: Wiki) -> None:
    text = "mutation($id: ID!) { archiveWikiPage(input: {pageId: $id}) { changed } }"
    for id in ("x", "01234567-0000-7000-8000-000000000000", str(wiki.scope.owner_id)):
        (error,) = (await ask(text, id=id))["errors"]
        assert error["extensions"] == {"code": "NOT_FOUND"}


async def test_writes_to_another_wiki_need_permission(dsn: str, wiki: Wiki, change: Ask, ask: Ask) -> None:
    other = await wiki.neighbour(Role.MEMBER)
    page = await make(change, ownerId=str(other.scope.owner_id))
    assert await other.rows("pages")
    member = Context(other.database, other.scope)
    text = 'mutation($o: ID!) { createWikiPage(input: {type: TOPIC, title: "T", ownerId: $o}) { created } }'
    answer = await make_engine().execute(text, {"o": str(wiki.scope.owner_id)}, None, member)
    assert json.loads(answer.body)["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    delete = "mutation($id: ID!) { deleteWikiPage(input: {pageId: $id}) { deletedPageId } }"
    answer = await make_engine().execute(delete, {"id": page["id"]}, None, Context(other.database, other.scope))
    assert json.loads(answer.body)["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert len(await other.rows("pages")) == 1


PLAIN = {"bootstrapJournalImport", "compileWikiNow", "resetWikiCursor"}
"""Mutations that keep the arguments of the original for its clients."""


def test_every_mutation_takes_one_input_and_answers_with_a_payload() -> None:
    assert GRAPHQL.mutation_type is not None
    for name, field in GRAPHQL.mutation_type.fields.items():
        if name in PLAIN:
            continue
        assert list(field.args) == ["input"], name
        payload = GRAPHQL.type_map[str(field.type).rstrip("!")]
        assert payload.name.endswith("Payload"), name
        assert is_object_type(payload)


SHOWN = """
    __typename id kind: type updatedAt parent { title } ...Texts
    links(first: 5) { totalCount edges { node { kind toPage { title } } } pageInfo { endCursor } }
    {more}
"""
TEXTS = "fragment Texts on WikiPage { sections { heading ... on WikiSection { bodyMd @skip(if: $bare) } } }"


@pytest.mark.parametrize("more", ["", "excerpt(length: 3)"], ids=["as bytes", "with a computed field"])
@pytest.mark.parametrize("bare", [True, False])
async def test_payloads_show_the_same_page_as_a_query(change: Ask, ask: Ask, more: str, bare: bool) -> None:
    page, other = await make(change, bodyMd="## Café\n\n“Hot”."), await make(change, "Texas")
    shown = SHOWN.replace("{more}", more)
    linking = f"""mutation ($input: LinkWikiPagesInput!, $bare: Boolean!) {{
        a: linkWikiPages(input: $input) {{ changed page {{ {shown} }} }}
        b: linkWikiPages(input: $input) {{ changed page {{ {shown} }} }}
    }} {TEXTS}"""
    reading = f"query ($id: ID!, $bare: Boolean!) {{ node(id: $id) {{ ... on WikiPage {{ {shown} }} }} }} {TEXTS}"
    link = {"fromPageId": page["id"], "toPageId": other["id"]}
    payloads = (await ask(linking, input=link, bare=bare))["data"]
    read = (await ask(reading, id=page["id"], bare=bare))["data"]["node"]
    assert payloads == {"a": {"changed": True, "page": read}, "b": {"changed": False, "page": read}}
    assert read["links"]["totalCount"] == 1


async def test_an_error_below_a_payload_is_reported_and_the_write_stands(change: Ask, ask: Ask) -> None:
    page, other = await make(change), await make(change, "Texas")
    text = """mutation ($input: LinkWikiPagesInput!) {
        linkWikiPages(input: $input) { changed page { links(first: 2, after: "x") { totalCount } } } }"""
    answer = await ask(text, input={"fromPageId": page["id"], "toPageId": other["id"]})
    assert answer["data"] == {"linkWikiPages": {"changed": True, "page": None}}
    (error,) = answer["errors"]
    assert error["path"] == ["linkWikiPages", "page"]
