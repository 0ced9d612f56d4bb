"""Relations lead to the right pages in cases that random documents rarely reach."""

from itertools import pairwise
from typing import Any
from uuid import UUID

from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import create_page
from resolvers.pages.renaming import rename_page
from schema.root import make_engine
from tests.schema.executing import RecordingContext, query_data
from tests.wiki import Wiki

ENGINE = make_engine()
BY_SLUG = """query ($tenant: ID!, $slug: String!) {
    wikiPage(tenantId: $tenant, type: TOPIC, slug: $slug) { title redirectedFrom } }"""
LINKS = (
    "query ($id: ID!) { node(id: $id) { ... on WikiPage { links { nodes { fromPage { title } toPage { title } } } } } }"
)
CONNECTED = """query ($id: ID!) {
    backlinks: wikiBacklinks(pageId: $id) { title }
    connected: wikiConnectedPages(pageId: $id) { title }
    outgoing: wikiConnectedPages(pageId: $id, direction: OUTGOING) { title }
    incoming: wikiConnectedPages(pageId: $id, direction: INCOMING) { title }
    both: wikiConnectedPages(pageId: $id, direction: BOTH) { title }
    node(id: $id) { ... on WikiPage {
        connected: connectedPages { nodes { title } }
        incoming: connectedPages(direction: INCOMING) { nodes { title } }
        both: connectedPages(direction: BOTH) { nodes { title } } } } }"""
NEAR = "query ($id: ID!, $depth: Int!) { wikiNeighbourhood(pageId: $id) { nodes(depth: $depth) { label } } }"


async def chain(wiki: Wiki, *titles: str) -> list[str]:
    """Create topics that each link to the next, and return their ids."""
    ids = []
    for title, following in pairwise([*titles, ""]):
        draft = PageDraft("topic", title, body=f"See [[{following}]]." if following else "The last.")
        ids.append(str((await create_page(wiki.database, wiki.scope, draft)).page_id))
    return ids


async def execute(wiki: Wiki, text: str, **variables: Any) -> dict[str, Any]:
    return await query_data(ENGINE, RecordingContext(wiki.database, wiki.scope), text, **variables)


async def test_only_an_old_slug_reports_a_redirect(wiki: Wiki) -> None:
    saved = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Harbours"))
    await rename_page(wiki.database, wiki.scope, saved.page_id, slug="ports")
    tenant = str(wiki.scope.tenant_id)
    found = {
        slug: (await execute(wiki, BY_SLUG, tenant=tenant, slug=slug))["wikiPage"] for slug in ("harbours", "ports")
    }
    assert found == {
        "harbours": {"title": "Harbours", "redirectedFrom": "harbours"},
        "ports": {"title": "Harbours", "redirectedFrom": None},
    }


async def test_a_link_shows_both_of_its_pages(wiki: Wiki) -> None:
    first, _ = await chain(wiki, "Harbours", "Lighthouses")
    assert (await execute(wiki, LINKS, id=first))["node"]["links"]["nodes"] == [
        {"fromPage": {"title": "Harbours"}, "toPage": {"title": "Lighthouses"}}
    ]


async def test_connected_pages_are_outgoing_links_by_default(wiki: Wiki) -> None:
    """By default they are the opposite of backlinks; `direction` selects others."""
    _, second, _ = await chain(wiki, "Harbours", "Lighthouses", "Moorings")
    found = await execute(wiki, CONNECTED, id=second)
    titles = {key: [page["title"] for page in pages] for key, pages in found.items() if key != "node"}
    assert titles == {
        "backlinks": ["Harbours"],
        "connected": ["Moorings"],
        "outgoing": ["Moorings"],
        "incoming": ["Harbours"],
        "both": ["Moorings", "Harbours"],
    }
    on_page = {key: [page["title"] for page in pages["nodes"]] for key, pages in found["node"].items()}
    assert on_page == {key: titles[key] for key in ("connected", "incoming", "both")}


async def test_a_page_that_is_linked_to_twice_is_connected_once(wiki: Wiki) -> None:
    first, second = await chain(wiki, "Harbours", "Lighthouses")
    await set_parent(wiki.database, wiki.scope, UUID(second), parent_id=UUID(first))
    found = await execute(wiki, CONNECTED, id=first)
    assert [page["title"] for page in found["connected"]] == ["Lighthouses"]
    assert [page["title"] for page in found["both"]] == ["Lighthouses"]


async def test_a_neighbourhood_ends_after_three_links(wiki: Wiki) -> None:
    titles = ["Anchors", "Buoys", "Canals", "Docks", "Estuaries"]
    first, *_ = await chain(wiki, *titles)
    for depth, reached in ((1, 2), (2, 3), (3, 4), (5, 4)):
        nodes = (await execute(wiki, NEAR, id=first, depth=depth))["wikiNeighbourhood"]["nodes"]
        assert [node["label"] for node in nodes] == titles[:reached]
