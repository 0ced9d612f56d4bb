"""The text of a page is shown as HTML with resolved links, and no text becomes markup."""

import re
from html.parser import HTMLParser
from typing import Any
from uuid import UUID

import orjson
import pytest

from content.markdown.html import html
from db.scope import Role
from resolvers.auth.owners import Grant, grant
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page
from schema.pages.pages import HTML, as_html
from selection import Engine
from tests.schema.executing import RecordingContext, query_data
from tests.wiki import Wiki

ANY_COST = 10**9


async def make(wiki: Wiki, title: str, body: str = "", type: str = "topic", **more: Any) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body, **more))).page_id


def links(html: str) -> list[tuple[str | None, str | None, str | None]]:
    """Return the class, the address and the page id of every link, in order."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "a":
                given = dict(attrs)
                found.append((given.get("class"), given.get("href"), given.get("data-page-id")))

    Reader().feed(html)
    return found


@pytest.fixture
def context(wiki: Wiki) -> RecordingContext:
    return RecordingContext(wiki.database, wiki.scope, ANY_COST)


PAGE = "query ($id: ID!) { node(id: $id) { ... on WikiPage { bodyHtml sections { bodyHtml } } } }"


async def html_of(engine: Engine, context: RecordingContext, page_id: UUID) -> str:
    found: str = (await query_data(engine, context, PAGE, id=str(page_id)))["node"]["bodyHtml"]
    return found


async def test_every_form_of_link_resolves_to_its_page(engine: Engine, context: RecordingContext, wiki: Wiki) -> None:
    kiln = await make(wiki, "Old Kiln", type="entity", aliases=("the oven",))
    body = "[[Old Kiln]] [[the oven|it]] [a](wiki:old-kiln) [b](/wiki/entity/old-kiln#heat) [[Nobody]] [[oak:Roast]]"
    page = await make(wiki, "About", f"{body} [^n0]")
    here = "/wiki/entity/old-kiln"
    assert links(await html_of(engine, context, page)) == [
        ("wiki-link", here, str(kiln)),
        ("wiki-link", here, str(kiln)),
        ("wiki-link", here, str(kiln)),
        ("wiki-link", f"{here}#heat", str(kiln)),
        ("wiki-link wiki-link-broken", None, None),
        ("wiki-link wiki-link-broken", None, None),
        ("wiki-citation", "#citation-n0", None),
    ]
    assert len(context.statements) == 1, "and the sections with it"


async def test_a_broken_link_resolves_once_its_page_is_created(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    page = await make(wiki, "About", "See [[Kiln]].")
    assert links(await html_of(engine, context, page)) == [("wiki-link wiki-link-broken", None, None)]
    kiln = await make(wiki, "Kiln")
    assert links(await html_of(engine, context, page)) == [("wiki-link", "/wiki/topic/kiln", str(kiln))]
    await archive_page(wiki.database, wiki.scope, kiln)
    assert links(await html_of(engine, context, page)) == [("wiki-link", "/wiki/topic/kiln", str(kiln))]


async def test_a_link_into_a_space_resolves_only_for_its_readers(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    other = await wiki.neighbour()
    slug = await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", other.scope.owner_id)
    roast = await make(other, "Roast")
    page = await make(wiki, "About", f"See [[{slug}:Roast]] and [[{slug}:Nothing]].")
    broken = ("wiki-link wiki-link-broken", None, None)
    reader = RecordingContext(wiki.database, wiki.with_role(Role.MEMBER).scope, ANY_COST)
    assert links(await html_of(engine, reader, page)) == [broken, broken], "no member sees that it exists"
    place = {"owner_id": other.scope.owner_id, "grantee_id": wiki.scope.owner_id}
    await grant(wiki.database, wiki.scope.tenant_id, **place, role=Grant.READER)
    found = ("wiki-link", f"/wiki/topic/roast?owner={slug}", str(roast))
    assert links(await html_of(engine, reader, page)) == [found, broken]


async def test_html_of_pages_and_sections_is_read_by_one_statement(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    for n in range(3):
        await make(wiki, f"Page {n}", f"Lead [[Page {n + 1}]].\n\n## More\n\n**Bold** [[Nobody]].")
    found = await query_data(
        engine, context, "{ wikiPages(first: 3) { nodes { title bodyHtml sections { bodyHtml } } } }"
    )
    for n, page in enumerate(found["wikiPages"]["nodes"]):
        lead, more = (section["bodyHtml"] for section in page["sections"])
        assert ("broken" in lead) == (n == 2)
        assert more.startswith('<p><strong>Bold</strong> <a class="wiki-link wiki-link-broken">Nobody</a>')
        assert page["bodyHtml"] == f"{lead}<h2>More</h2>\n{more}"
    assert len(context.statements) == 1


async def test_a_payload_shows_the_body_html(engine: Engine, context: RecordingContext, wiki: Wiki) -> None:
    text = 'mutation { createWikiPage(input: {type: TOPIC, title: "A", bodyMd: "<b>[[A]]"}) { page { bodyHtml } } }'
    page = (await query_data(engine, context, text))["createWikiPage"]["page"]
    assert re.sub(r' data-page-id="[^"]*"', "", page["bodyHtml"]) == (
        '<p>&lt;b&gt;<a class="wiki-link" href="/wiki/topic/a">A</a></p>\n'
    )


async def test_body_html_costs_twenty_per_page(engine: Engine, wiki: Wiki) -> None:
    async def cost(fields: str) -> int:
        context = RecordingContext(wiki.database, wiki.scope, ANY_COST)
        answer = await engine.execute(f"{{ wikiPages(first: 10) {{ nodes {{ {fields} }} }} }}", {}, None, context)
        requested: int = orjson.loads(answer.body)["extensions"]["cost"]["requested"]
        return requested

    before = await cost("bodyMd")
    assert await cost("bodyMd bodyHtml") == before + 10 * 20


async def test_links_report_the_text_that_the_page_shows_for_them(
    engine: Engine, context: RecordingContext, wiki: Wiki
) -> None:
    await make(wiki, "Kiln")
    child = await make(wiki, "Roast")
    page = await make(wiki, "About", "See [[kiln|the *old* oven]], [[Kiln]], [a **roast**](wiki:roast), [[Nobody|x]].")
    await set_parent(wiki.database, wiki.scope, child, parent_id=page)
    text = """query ($id: ID!) { node(id: $id) { ... on WikiPage {
        links { nodes { kind text toPage { title } } } brokenLinks { nodes { text } } } } }"""

    async def shown() -> tuple[set[tuple[str, str | None, str]], list[str]]:
        found = (await query_data(engine, context, text, id=str(page)))["node"]
        links = {(link["kind"], link["text"], link["toPage"]["title"]) for link in found["links"]["nodes"]}
        return links, [target["text"] for target in found["brokenLinks"]["nodes"]]

    assert await shown() == (
        {
            ("REFERENCE", "the *old* oven", "Kiln"),
            ("REFERENCE", "a **roast**", "Roast"),
            ("PARENT_OF", None, "Roast"),
        },
        ["x"],
    )
    assert len(context.statements) == 1
    await edit_page(wiki.database, wiki.scope, PageAddress(page), old_text="the *old* oven", new_text="it")
    assert ("REFERENCE", "it", "Kiln") in (await shown())[0]


async def test_the_html_cache_is_bounded_by_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Text {number} with *marks*." for number in range(10, 19)]
    monkeypatch.setattr(HTML, "max_weight", HTML.weigh((texts[0], b"{}"), await as_html(texts[0], {})) * 3)
    for text in texts:
        assert await as_html(text, {}) == html(text, {})
    assert [key[0] for key in HTML.entries] == texts[-3:]  # type: ignore[index]
    assert HTML.total_weight <= HTML.max_weight
