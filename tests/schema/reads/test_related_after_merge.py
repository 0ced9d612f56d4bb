"""A page into which a related page was merged is never related to itself."""

from typing import Any
from uuid import UUID

from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.merging import merge_pages
from selection import Engine
from tests.schema.executing import RecordingContext, query_data
from tests.wiki import Wiki

SHOWN = """query ($id: ID!) {
    node(id: $id) { ... on WikiPage {
        related { title } contradicts { title } supersedes { title }
        links { nodes { toPage { title } } } backlinks { nodes { title } }
    } }
    relatedWikiPages(pageId: $id) { page { title } }
}"""


async def make(wiki: Wiki, title: str, body: str, **metadata: Any) -> UUID:
    draft = PageDraft("topic", title, body=body, metadata=metadata)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def test_a_merge_target_is_never_related_to_itself(engine: Engine, wiki: Wiki) -> None:
    where = wiki.database, wiki.scope
    text = "Firebrick keeps the temperature. See [[Oven]], [[Kiln]] and [[Stove]]."
    oven, kiln, stove = [
        await make(wiki, title, text, contradicts=["oven", "kiln"], supersedes=["oven", "kiln"])
        for title in ("Oven", "Kiln", "Stove")
    ]
    for n in range(5):
        await make(wiki, f"Page {n}", f"Nothing of that {n}.")
    for start, end in ((oven, kiln), (kiln, oven), (stove, oven), (oven, stove)):
        await link_pages(*where, start, end)
    await merge_pages(*where, oven, kiln)

    context = RecordingContext(wiki.database, wiki.scope, 10**9)
    found = await query_data(engine, context, SHOWN, id=str(kiln))
    titles = {name: [other["title"] for other in found["node"][name]] for name in ("related", "contradicts")}
    assert titles == {"related": ["Stove"], "contradicts": []}
    assert [page["title"] for page in found["node"]["supersedes"]] == ["Oven"]
    assert [link["toPage"]["title"] for link in found["node"]["links"]["nodes"]] == ["Stove"]
    assert [page["title"] for page in found["node"]["backlinks"]["nodes"]] == ["Stove"]
    assert [hit["page"]["title"] for hit in found["relatedWikiPages"]] == ["Stove"]
    of_merged = await query_data(engine, context, SHOWN, id=str(oven))
    assert [hit["page"]["title"] for hit in of_merged["relatedWikiPages"]] == ["Stove"]
