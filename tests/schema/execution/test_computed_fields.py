"""Fields computed in Python get their values from the one statement of the operation."""

import orjson
import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from selection import Engine
from tests.schema.executing import RecordingContext, query_data
from tests.wiki import Wiki

RICH = 10**9
LOOKS_LIKE_A_CALL = {"$call": 0, "body": "stored", "places": {}}


@pytest.fixture
def context(wiki: Wiki) -> RecordingContext:
    return RecordingContext(wiki.database, wiki.scope, RICH)


async def create_topic(wiki: Wiki, title: str, body: str) -> str:
    draft = PageDraft("topic", title, body=body, metadata=LOOKS_LIKE_A_CALL)
    return str((await create_page(wiki.database, wiki.scope, draft)).page_id)


async def test_computed_fields_of_several_roots_need_one_statement(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    id = await create_topic(wiki, "Kiln", "It is *hot* in there.")
    text = """query ($id: ID!, $length: Int!, $no: Boolean = false) {
        viewer { role }
        page: node(id: $id) { ...Shown }
        nodes(ids: [$id, $id]) { ...Shown }
        wikiPages(first: 5) { edges { node { title ...Shown } } }
    }
    fragment Shown on WikiPage {
        html: bodyHtml short: excerpt(length: $length) long: excerpt bodyHtml @include(if: $no)
        rows: sections { text: bodyHtml page { excerpt(length: 4) } }
    }"""
    shown = {
        "html": "<p>It is <em>hot</em> in there.</p>\n",
        "short": "It is…",
        "long": "It is hot in there.",
        "rows": [{"text": "<p>It is <em>hot</em> in there.</p>\n", "page": {"excerpt": "It…"}}],
    }
    found = await query_data(engine, context, text, id=id, length=6)
    assert found["page"] == shown
    assert list(found["page"]) == ["html", "short", "long", "rows"]
    assert found["nodes"] == [shown, shown]
    assert found["wikiPages"]["edges"] == [{"node": {"title": "Kiln"} | shown}]
    assert len(context.statements) == 1


async def test_stored_data_is_never_mistaken_for_a_computed_field(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    id = await create_topic(wiki, "Kiln", "Hot.")
    text = "query ($id: ID!) { node(id: $id) { ... on WikiPage { metadata excerpt } } }"
    assert (await query_data(engine, context, text, id=id))["node"] == {
        "metadata": LOOKS_LIKE_A_CALL,
        "excerpt": "Hot.",
    }


async def test_types_that_share_a_response_key_compute_their_own_fields(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    page = await create_topic(wiki, "Kiln", "*Hot.*")
    section = str((await wiki.row("sections", page_id=page))["id"])
    text = """query ($ids: [ID!]!) { nodes(ids: $ids) {
        ... on WikiPage { text: excerpt sections { same: bodyMd } }
        ... on WikiSection { text: bodyHtml same: bodyMd page { excerpt } }
        ... on WikiSource { text: ref }
    } }"""
    assert (await query_data(engine, context, text, ids=[page, section]))["nodes"] == [
        {"text": "Hot.", "sections": [{"same": "*Hot.*"}]},
        {"text": "<p><em>Hot.</em></p>\n", "same": "*Hot.*", "page": {"excerpt": "Hot."}},
    ]
    assert len(context.statements) == 1


async def test_graphql_core_computes_the_same_field_values(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    id = await create_topic(wiki, "Kiln", "*Hot.*")
    fields = "node(id: $id) { ... on WikiPage { metadata bodyHtml short: excerpt(length: 3) } }"
    whole = await query_data(engine, context, f"query ($id: ID!) {{ {fields} }}", id=id)
    beside = await query_data(
        engine, context, f"query ($id: ID!) {{ {fields} __schema {{ queryType {{ name }} }} }}", id=id
    )
    assert orjson.dumps(whole["node"]) == orjson.dumps(beside["node"])
