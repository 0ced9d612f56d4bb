"""A search computes only what is selected, shows only readable pages, and is paged without gaps."""

import logging
from typing import Any
from uuid import UUID

import pytest

from content.search.snippets import Snippet
from db.database import Database
from db.scope import Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import create_page, delete_page
from resolvers.search.request import Filter, SearchHit, SearchRequest, SearchResult
from resolvers.sources.sources import cite_source
from selection import Engine
from tests.schema.executing import RecordingContext, error_code, execute_document, query_data
from tests.schema.world import CALLERS, World, caller_scope
from tests.wiki import Wiki

ADMIN = caller_scope(1, "alice", Role.ADMIN)
COUNTS = "{ types { value count } tags { value count } }"
VALUES = "excerpt"  # a Python field: the operation cannot be bytes


def results(selection: str, arguments: str = "", more: str = "") -> str:
    after = ", $after: String" if "$after" in arguments else ""
    return f"query ($q: String!{after}) {{ wikiSearchResults(query: $q{arguments}) {selection} }} {more}"


# -- what is wanted


@pytest.mark.parametrize("computed", ["", VALUES])
@pytest.mark.parametrize(
    ("selection", "snippets", "counts"),
    [
        ("edges { cursor node { title %s } }", False, False),
        ("edges { snippet { text } node { title %s } }", True, False),
        ("edges { section { heading } node { title %s } }", True, False),
        ("edges { ...Shown node { title %s } }", True, False),
        ("edges { ... { snippet @skip(if: true) { text } } node { title %s } }", False, False),
        ("nodes { id %s } totalCount", False, True),
        ("nodes { id %s } totalIsExact", False, True),
        ("nodes { id %s } facets { tags { value } }", False, True),
    ],
)
async def test_snippets_and_counts_are_computed_only_when_selected(
    engine: Engine, context: RecordingContext, selection: str, snippets: bool, counts: bool, computed: str
) -> None:
    fragment = "fragment Shown on WikiSearchEdge { snippet { html } }" if "Shown" in selection else ""
    await query_data(engine, context, results(f"{{ {selection % computed} }}", more=fragment), q="latte")
    (request,) = searches_of(context)
    assert (request.with_snippets, request.with_counts) == (snippets, counts)


def searches_of(context: RecordingContext) -> list[SearchRequest]:
    return [request for request in context.searches if isinstance(request, SearchRequest)]


async def test_list_searches_compute_snippets_only_when_selected(engine: Engine, context: RecordingContext) -> None:
    text = """query ($t: ID!) { a: wikiSearch(tenantId: $t, query: "latte") { score }
        b: wikiSearch(tenantId: $t, query: "latte") { snippet { text } } }"""
    await query_data(engine, context, text, t=str(context.scope.tenant_id))
    assert [request.with_snippets for request in searches_of(context)] == [False, True]


@pytest.mark.parametrize(("first", "size"), [(0, 1), (-5, 1), (7, 7), (500, 50), (None, 20)])
async def test_the_page_size_is_clamped_between_one_and_fifty(
    engine: Engine, context: RecordingContext, first: int | None, size: int
) -> None:
    text = 'query ($n: Int) { wikiSearchResults(query: "latte", first: $n) { nodes { id } } }'
    assert len((await query_data(engine, context, text, n=first))["wikiSearchResults"]["nodes"]) <= size
    assert searches_of(context)[0].first == size


async def test_a_filter_means_the_same_as_a_literal_and_as_a_variable(
    engine: Engine, context: RecordingContext, world: World
) -> None:
    written = """{types: [ENTITY, TOPIC], excludedTypes: [THEME], tags: ["coffee"], excludedTags: ["travel"],
        statuses: [ARCHIVED], updatedAfter: "2026-01-01", updatedBefore: "2027-01-01T00:00:00Z", titleOnly: true}"""
    given = {
        "types": ["ENTITY", "TOPIC"], "excludedTypes": ["THEME"], "tags": ["coffee"], "excludedTags": ["travel"],
        "statuses": ["ARCHIVED"], "updatedAfter": "2026-01-01", "updatedBefore": "2027-01-01T00:00:00Z",
        "titleOnly": True,
    }  # fmt: skip
    await query_data(engine, context, results("{ totalCount }", f", filter: {written}"), q="latte")
    text = 'query ($f: WikiSearchFilter) { wikiSearchResults(query: "latte", filter: $f) { totalCount } }'
    await query_data(engine, context, text, f=given)
    await query_data(engine, context, text, f=None)
    first, second, none = (request.filter for request in searches_of(context))
    assert first == second
    assert (first.types, first.excluded_types, first.statuses) == (("entity", "topic"), ("theme",), ("archived",))
    assert (first.tags, first.excluded_tags, first.title_only) == (("coffee",), ("travel",), True)
    assert [moment and moment.year for moment in (first.updated_after, first.updated_before)] == [2026, 2027]
    assert none == Filter()


# -- what is shown


async def test_paging_forward_returns_each_result_once(engine: Engine, context: RecordingContext) -> None:
    text = results("{ edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } }",
                   ", first: 3, after: $after")  # fmt: skip
    whole = await query_data(engine, context, results("{ nodes { id } totalCount }", ", first: 50"), q="latte")
    everything, seen = whole["wikiSearchResults"], list[dict[str, Any]]()
    cursor, more = None, True
    while more:
        page = (await query_data(engine, context, text, q="latte", after=cursor))["wikiSearchResults"]
        assert [edge["node"] for edge in page["edges"]] == page["nodes"]
        assert page["pageInfo"]["hasPreviousPage"] == (cursor is not None)
        cursor, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        assert cursor == page["edges"][-1]["cursor"]
        seen += page["nodes"]
    assert seen == everything["nodes"]
    assert len(seen) == everything["totalCount"] > 3


async def test_highlights_count_code_points(engine: Engine, context: RecordingContext) -> None:
    """Offsets are not bytes, and not units of UTF-16, of which an elephant emoji takes two."""
    text = results("{ edges { snippet { text html highlights { start length } } } }", ", first: 50")
    edges = (await query_data(engine, context, text, q="elephant"))["wikiSearchResults"]["edges"]
    snippets = [edge["snippet"] for edge in edges if edge["snippet"]]
    marked = [
        snippet["text"][mark["start"] : mark["start"] + mark["length"]]
        for snippet in snippets
        for mark in snippet["highlights"]
    ]
    assert set(marked) == {"elephant"}
    assert all(snippet["html"].count("<mark>elephant</mark>") == len(snippet["highlights"]) for snippet in snippets)


async def test_facets_and_the_total_are_of_all_results(engine: Engine, context: RecordingContext) -> None:
    text = results(f"{{ nodes {{ type tags }} totalCount totalIsExact facets {COUNTS} }}", ", first: %d")
    whole = (await query_data(engine, context, text % 50, q="latte"))["wikiSearchResults"]
    part = (await query_data(engine, context, text % 1, q="latte"))["wikiSearchResults"]
    types = [page["type"] for page in whole["nodes"]]
    tags = [tag for page in whole["nodes"] for tag in page["tags"]]
    assert part["facets"] == whole["facets"]
    assert part["totalCount"] == whole["totalCount"] == len(types)
    assert {one["value"]: one["count"] for one in whole["facets"]["types"]} == {one: types.count(one) for one in types}
    assert {one["value"]: one["count"] for one in whole["facets"]["tags"]} == {one: tags.count(one) for one in tags}


async def test_archived_pages_are_found_when_the_filter_asks_for_them(
    engine: Engine, context: RecordingContext
) -> None:
    text = results("{ nodes { status } edges { node { status } } }", ", first: 50, filter: {statuses: [ARCHIVED]}")
    found = (await query_data(engine, context, text, q="latte"))["wikiSearchResults"]
    assert {page["status"] for page in found["nodes"]} == {"ARCHIVED"}
    assert [edge["node"] for edge in found["edges"]] == found["nodes"]


@pytest.mark.parametrize("computed", ["", VALUES])
async def test_admins_get_an_explanation_of_the_scores(engine: Engine, database: Database, computed: str) -> None:
    shown = f"parts {{ name value }} terms {{ word lexeme pages weight }} }} node {{ id {computed} }}"
    selection = f"{{ edges {{ score explanation {{ {shown} }} }}"
    explained = await query_data(
        engine, RecordingContext(database, ADMIN), results(selection, ", explain: true"), q="latte"
    )
    unexplained = await query_data(engine, RecordingContext(database, ADMIN), results(selection), q="latte")
    for edge in explained["wikiSearchResults"]["edges"]:
        parts = [part["value"] for part in edge["explanation"]["parts"]]
        assert sum(parts) == pytest.approx(edge["score"])
        assert edge["explanation"]["terms"][0]["word"] == "latte"
    assert all(edge["explanation"] is None for edge in unexplained["wikiSearchResults"]["edges"])


# -- refusals


@pytest.mark.parametrize("role", [Role.READER, Role.MEMBER, Role.SERVICE])
async def test_score_explanations_are_forbidden_to_all_roles_but_admin(
    engine: Engine, database: Database, role: Role
) -> None:
    context = RecordingContext(database, caller_scope(1, "alice", role))
    answer = await execute_document(engine, context, results("{ totalCount }", ", explain: true"), q="latte")
    assert error_code(answer) == "FORBIDDEN"
    assert not context.searches


@pytest.mark.parametrize("tags", [["a\x00"], ["\ud800"], ["a"] * 1001])
async def test_invalid_tags_are_bad_input(engine: Engine, context: RecordingContext, tags: list[str]) -> None:
    text = 'query ($t: [String!]) { wikiSearchResults(query: "latte", filter: {tags: $t}) { totalCount } }'
    assert error_code(await execute_document(engine, context, text, t=tags)) == "BAD_USER_INPUT"
    assert not context.searches


@pytest.mark.parametrize("computed", ["", VALUES])
async def test_an_invalid_cursor_is_a_client_error_without_a_log_entry(
    engine: Engine, context: RecordingContext, caplog: pytest.LogCaptureFixture, computed: str
) -> None:
    text = results(f"{{ nodes {{ id {computed} }} }}", ", after: $after")
    with caplog.at_level(logging.WARNING):
        answer = await execute_document(engine, context, text, q="latte", after="zz")
    assert error_code(answer) == "BAD_USER_INPUT"
    assert answer["errors"][0]["path"] == ["wikiSearchResults"]
    assert caplog.records == []


async def test_the_cost_of_a_search_grows_with_its_page_size(engine: Engine, database: Database) -> None:
    text = results("{ nodes { children(limit: 10) { id } } edges { node { id } } }", ", first: %d")
    spent = []
    for first in (1, 20, 500):
        context = RecordingContext(database, CALLERS[0])
        await query_data(engine, context, text % first, q="latte")
        spent.append(context.spent)
    assert spent == [32, 241, 571]
    poor = RecordingContext(database, CALLERS[0], budget=200)
    assert error_code(await execute_document(engine, poor, text % 20, q="latte")) == "LIMIT_EXCEEDED"
    assert not poor.searches


# -- what may be read


async def test_an_unreadable_wiki_looks_empty(engine: Engine, context: RecordingContext, world: World) -> None:
    eve = world.rows("pages", 1, "eve")[0]["owner_id"]
    whole = f"nodes {{ id }} totalCount totalIsExact didYouMean facets {COUNTS} pageInfo {{ hasNextPage endCursor }}"
    text = f'query ($o: ID) {{ wikiSearchResults(query: "latte", ownerId: $o) {{ {whole} }} }}'
    answers = [await query_data(engine, context, text, o=str(owner)) for owner in (eve, UUID(int=7))]
    assert answers[0] == answers[1]
    assert answers[0]["wikiSearchResults"]["totalCount"] == 0
    assert (await query_data(engine, context, text, o=None))["wikiSearchResults"]["totalCount"] > 0


async def test_an_unreadable_page_among_the_hits_is_not_shown(
    engine: Engine, context: RecordingContext, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement that shows the hits checks access again, in case the search returns a foreign or deleted page."""
    own = [row["id"] for row in world.rows("pages", 1, "alice")[:3]]
    strangers = [world.rows("pages", 1, "eve")[0]["id"], world.rows("pages", 2, "alice")[0]["id"], UUID(int=5)]
    ids = [strangers[0], own[2], strangers[1], own[0], strangers[2], own[1]]
    snippet = Snippet(0, "What it says", ((0, 4),))

    async def search(request: SearchRequest) -> SearchResult:
        return SearchResult(tuple(SearchHit(id, 1.0, f"c{place}", snippet=snippet) for place, id in enumerate(ids)))

    async def related(page_id: UUID, limit: int | None) -> list[tuple[UUID, float]]:
        return [(id, 1.0) for id in ids]

    monkeypatch.setattr(context, "search", search)
    monkeypatch.setattr(context, "find_related", related)
    shown = [str(id) for id in ids if id in own]
    text = """query ($t: ID!, $p: ID!) {
        wikiSearch(tenantId: $t, query: "x") { page { id } } mobileWikiSearch(query: "x") { page { id } }
        relatedWikiPages(pageId: $p) { page { id } }
        wikiSearchResults(query: "x") {
            nodes { id } edges { cursor node { id } } pageInfo { startCursor endCursor } } }"""
    found = await query_data(engine, context, text, t=str(context.scope.tenant_id), p=str(own[0]))
    assert [hit["page"]["id"] for hit in found["wikiSearch"]] == shown
    assert [hit["page"]["id"] for hit in found["mobileWikiSearch"]] == shown
    assert [hit["page"]["id"] for hit in found["relatedWikiPages"]] == shown
    results = found["wikiSearchResults"]
    assert [page["id"] for page in results["nodes"]] == shown
    assert [(edge["cursor"], edge["node"]["id"]) for edge in results["edges"]] == list(
        zip(("c1", "c3", "c5"), shown, strict=True)
    )
    assert results["pageInfo"] == {"startCursor": "c0", "endCursor": "c5"}


async def test_a_section_of_another_page_is_not_shown(
    engine: Engine, context: RecordingContext, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sections = world.rows("sections", 1, "alice")
    one, other = sections[0], next(row for row in sections if row["page_id"] != sections[0]["page_id"])

    async def search(request: SearchRequest) -> SearchResult:
        return SearchResult(tuple(SearchHit(one["page_id"], 1.0, "c", section_id=row["id"]) for row in (one, other)))

    monkeypatch.setattr(context, "search", search)
    found = await query_data(engine, context, results("{ edges { section { id } } }"), q="x")
    assert found["wikiSearchResults"]["edges"] == [{"section": {"id": str(one["id"])}}, {"section": None}]


@pytest.mark.parametrize("id", ["nonsense", str(UUID(int=7))])
async def test_an_unknown_page_has_no_related_pages(engine: Engine, context: RecordingContext, id: str) -> None:
    text = "query ($id: ID!) { relatedWikiPages(pageId: $id) { page { id } } }"
    assert await query_data(engine, context, text, id=id) == {"relatedWikiPages": []}


async def test_a_page_is_not_related_to_itself(engine: Engine, context: RecordingContext, world: World) -> None:
    page = next(row for row in world.rows("pages", 1, "alice") if row["status"] == "active")
    text = "query ($id: ID!) { relatedWikiPages(pageId: $id, limit: 50) { score page { id status } } }"
    found = (await query_data(engine, context, text, id=str(page["id"])))["relatedWikiPages"]
    assert str(page["id"]) not in {one["page"]["id"] for one in found}
    assert {one["page"]["status"] for one in found} == {"ACTIVE"}
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)


# -- passages of sources


async def test_passages_show_their_source_and_the_sections_citing_them(wiki: Wiki, engine: Engine) -> None:
    source_id = await wiki.add_source("document", "kiln.md", "# Kiln\n\nThe kiln cracked.\n\nA new one came.\n")
    sections = [SectionDraft("x", heading="Damage"), SectionDraft("y", heading="Repair")]
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", sections=sections))
    for slug, line in (("damage", 3), ("repair", 5)):
        cited = {"page_id": page.page_id, "section_slug": slug, "source_id": source_id, "line_start": line}
        await cite_source(wiki.database, wiki.scope, **cited)
    text = """{ wikiSearchSources(query: "cracked kiln") {
        pageInfo { hasNextPage } edges { snippet { html } node {
            text heading speaker lineStart lineEnd startOffset endOffset position
            source { ref } sections { nodes { heading page { title } } }
        } }
    } }"""
    found = (await query_data(engine, Context(wiki.database, wiki.scope), text))["wikiSearchSources"]
    assert found["pageInfo"] == {"hasNextPage": False}
    assert found["edges"][0] == {
        "snippet": {"html": "The <mark>kiln</mark> <mark>cracked</mark>."},
        "node": {
            "text": "The kiln cracked.", "heading": "Kiln", "speaker": "", "lineStart": 3, "lineEnd": 3,
            "startOffset": 8, "endOffset": 25, "position": 0, "source": {"ref": "kiln.md"},
            "sections": {"nodes": [{"heading": "Damage", "page": {"title": "Kiln"}}]},
        },
    }  # fmt: skip


async def test_a_passage_shows_the_newer_passage_that_supersedes_it(wiki: Wiki, engine: Engine) -> None:
    for ref, text in (("old", "Falcon Mill has moved to Graz."), ("new", "Falcon Mill has moved from Graz to Linz.")):
        await wiki.add_source("document", ref, text)
    text = """{ wikiSearchSources(query: "where has Falcon Mill moved") {
        edges { node { source { ref } } supersededBy { text source { ref } } }
    } }"""
    found = (await query_data(engine, Context(wiki.database, wiki.scope), text))["wikiSearchSources"]["edges"]
    newer = {"text": "Falcon Mill has moved from Graz to Linz.", "source": {"ref": "new"}}
    assert found == [
        {"node": {"source": {"ref": "new"}}, "supersededBy": None},
        {"node": {"source": {"ref": "old"}}, "supersededBy": newer},
    ]


async def test_sources_of_another_tenant_are_not_found(engine: Engine, world: World, database: Database) -> None:
    text = 'query ($o: ID) { wikiSearchSources(query: "ref", ownerId: $o) { totalCount nodes { text } } }'
    stranger = caller_scope(2, "alice", Role.MEMBER)
    own = await query_data(engine, RecordingContext(database, caller_scope(1, "alice", Role.MEMBER)), text)
    assert own["wikiSearchSources"]["totalCount"] > 0
    foreign = await query_data(
        engine, RecordingContext(database, stranger), text, o=str(caller_scope(1, "alice", Role.MEMBER).owner_id)
    )
    assert foreign["wikiSearchSources"] == {"totalCount": 0, "nodes": []}


async def test_a_hit_lists_the_matching_memories_that_its_page_cites(wiki: Wiki, engine: Engine) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", sections=[SectionDraft("x", "a")]))
    for ref, content in (("m1", "The kiln cracked."), ("m2", "Rain all day."), ("m3", "A new kiln came.")):
        source_id = await wiki.add_source("memory_unit", ref, content)
        if ref != "m3":
            await cite_source(wiki.database, wiki.scope, page_id=page.page_id, section_slug="a", source_id=source_id)
    text = '{ mobileWikiSearch(query: "kiln") { matchingMemoryIds page { title } } }'
    found = await query_data(engine, Context(wiki.database, wiki.scope), text)
    assert found["mobileWikiSearch"] == [{"matchingMemoryIds": ["m1"], "page": {"title": "Kiln"}}]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SERVICE, Role.ADMIN])
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{ wikiSearch(tenantId: "%s", query: "latte -tea") { page { title } } }', ["wikiSearch"]),
        ('{ wikiSearchResults(query: "latte") { edges { node { title } } } }', ["wikiSearchResults", "edges"]),
        ('{ wikiSearchResults(query: "latte") { nodes { title } } }', ["wikiSearchResults", "nodes"]),
    ],
)
async def test_a_page_deleted_after_the_search_is_not_shown(
    engine: Engine, wiki: Wiki, role: Role, text: str, path: list[str]
) -> None:
    saved = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Latte", body="Latte."))

    class Deleting(Context):
        async def search(self, request: SearchRequest) -> SearchResult:
            found = await super().search(request)
            assert [hit.page_id for hit in found.hits] == [saved.page_id]
            await delete_page(wiki.database, wiki.scope, saved.page_id)
            return found

    context = Deleting(wiki.database, wiki.with_role(role).scope)
    answer = await execute_document(engine, context, text.replace("%s", str(wiki.scope.tenant_id)))
    assert "errors" not in answer
    shown: Any = answer["data"]
    for name in path:
        shown = shown[name]
    assert shown == []
