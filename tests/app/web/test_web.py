"""The reader over HTTP, without scripts: reading, searching and what its responses contain."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from app.web.rendering import templates
from db.scope import Role
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import append_to_page
from resolvers.pages.lifecycle import archive_page
from resolvers.pages.renaming import rename_page
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service, serving
from tests.wiki import Wiki

POLICY = "content-security-policy"


async def test_a_page_shows_its_text_links_and_backlinks(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    await add_page(wiki, "Barton Springs", "Cold.", summary="A pool.")
    slug = await add_page(
        wiki, "Austin", "Hot & dry.\n\n## Water\n\nSee [[Barton Springs]] and [[Nowhere]].\n\n- [x] swim"
    )
    shown = await browser.get(f"/wiki/{owner}/topic/{slug}")
    assert shown.status_code == 200
    assert "Hot &amp; dry." in shown.text
    assert f'href="/wiki/{owner}/topic/barton-springs"' in shown.text
    assert f'<a class="broken" href="/new/{owner}?title=Nowhere"' in shown.text
    assert '<h2 id="water">' in shown.text
    assert 'aria-label="Done"' in shown.text
    back = await browser.get(f"/wiki/{owner}/topic/barton-springs")
    assert re.search(rf'aria-labelledby="page-backlinks".*href="/wiki/{owner}/topic/austin"', back.text, re.DOTALL)
    assert f'<a class="place" href="/wiki/{owner}/topic/austin#water">Water</a>' in back.text


async def test_a_page_is_served_as_markdown_at_its_md_address(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slug = await add_page(wiki, "Austin", "## Water\n\nCold.", summary="A city.")
    answer = await browser.get(f"/wiki/{owner}/topic/{slug}.md")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text == "# Austin\n\nA city.\n\n## Water\n\nCold.\n"
    assert f'<link rel="alternate" type="text/markdown" href="/wiki/{owner}/topic/{slug}.md">' in (
        await browser.get(f"/wiki/{owner}/topic/{slug}")
    ).text  # fmt: skip


async def test_former_slugs_and_short_addresses_redirect_to_the_page(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "Austin", "Hot.")
    page = await wiki.row("pages", slug="austin")
    await rename_page(wiki.database, wiki.scope, page["id"], title="Austin, Texas", slug="austin-texas")
    for path in (f"/wiki/{owner}/topic/austin", "/wiki/topic/austin-texas", f"/wiki/topic/austin-texas?owner={owner}"):
        answer = await browser.get(path)
        assert (answer.status_code, answer.headers["location"]) == (301, f"/wiki/{owner}/topic/austin-texas")


async def test_the_error_of_a_missing_page_is_html_with_a_next_step(browser: httpx.AsyncClient, owner: str) -> None:
    for path in (
        f"/wiki/{owner}/topic/nothing",
        f"/wiki/{owner}/nothing/at",
        "/wiki/nobody",
        "/nothing",
        f"/graph/{owner}/x",
    ):
        answer = await browser.get(path)
        assert (path, answer.status_code) in {(path, 404), (path, 403), (path, 422)}
        assert answer.headers["content-type"].startswith("text/html")
        assert "Go to the home page" in answer.text


async def test_the_error_of_a_missing_page_offers_a_search_of_its_wiki(browser: httpx.AsyncClient, owner: str) -> None:
    answer = await browser.get(f"/wiki/{owner}/topic/old-mill")
    assert f'action="/search/{owner}"' in answer.text
    assert 'maxlength="500" value="old mill"' in answer.text
    assert 'id="query"' not in (await browser.get("/nothing")).text


async def test_a_search_without_results_offers_writers_to_create_the_page(
    service: Service, browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"/search/{owner}?q=Old+Mill"
    offer = f'href="/new/{owner}?title=Old%20Mill"'
    found = await browser.get(path)
    assert "No results" in found.text
    assert "0 pages found" not in found.text
    assert offer in found.text
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        assert offer not in (await reader.get(path)).text
    await add_page(wiki, "Old Mill", "Wheels.")
    assert offer not in (await browser.get(path)).text


async def test_a_page_with_one_version_has_nothing_to_compare(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slug = await add_page(wiki, "Austin", "Hot.")
    path = f"/history/{owner}/topic/{slug}"
    first = (await browser.get(path)).text
    assert ("has not been changed" in first, 'type="radio"' in first) == (True, False)
    page = await wiki.row("pages", slug=slug)
    await rename_page(wiki.database, wiki.scope, page["id"], title="Austin, Texas")
    second = (await browser.get(path)).text
    assert ("has not been changed" in second, second.count('type="radio"')) == (False, 4)


async def test_programs_get_json_for_a_missing_page(service: Service) -> None:
    for accept in ("application/json", "*/*"):
        answer = await service.http.get("/nothing", headers={"accept": accept})
        assert answer.json()["errors"][0]["extensions"]["code"] == "NOT_FOUND"


async def test_every_page_has_a_strict_csp_and_no_inline_script_or_style(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slug = await add_page(wiki, "Austin", "![cat](https://elsewhere.example/cat.png)")
    for path in ("/", f"/wiki/{owner}/topic/{slug}", f"/pages/{owner}", "/nothing", "/sign-in"):
        shown = await browser.get(path)
        policy = dict(rule.split(" ", 1) for rule in shown.headers[POLICY].split("; "))
        assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
        assert (policy["require-trusted-types-for"], policy["trusted-types"]) == ("'script'", "'none'")
        assert not re.search(
            r"<img|<iframe| style=| on\w+=|<style|<script(?! type=\"module\" src=\"/static/)", shown.text
        )


async def test_links_target_headings_inside_sections_and_ids_are_unique(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    inner = "### Pin *tabs* & more\n\nSo.\n\n### Pin tabs & more\n\nAgain.\n\n### Related\n\nNo."
    named = "".join(f"\n\n## {name}\n\nSome." for name in ("Related", "Text", "Q", "Contents", "Backlinks", "Around"))
    slug = await add_page(wiki, "Austin", f"Lead.\n\n## Tabs\n\n{inner}{named}")
    other = await add_page(wiki, "Other", "See [[Austin#Pin tabs & more]].")
    link = re.search(
        r'class="wiki-link" href="[^"#]*#([^"]*)"', (await browser.get(f"/wiki/{owner}/topic/{other}")).text
    )
    shown = (await browser.get(f"/wiki/{owner}/topic/{slug}")).text
    assert link is not None
    assert f'<h3 id="{link[1]}">Pin <em>tabs</em> &amp; more</h3>' in shown
    assert "<h3>Pin tabs &amp; more</h3>" in shown
    ids = re.findall(r' id="([^"]*)"', shown)
    assert len(ids) == len(set(ids))


async def write_pages_of_two_types(wiki: Wiki) -> None:
    """Write a topic, an entity and a project, and archive the project."""
    await add_page(wiki, "Austin", "Hot.")
    await add_page(wiki, "Ada", "A person.", type="entity")
    gone = await add_page(wiki, "Old plan", "Done.", type="project")
    await archive_page(wiki.database, wiki.scope, (await wiki.row("pages", slug=gone))["id"])


async def test_the_home_page_of_a_wiki_lists_the_types_that_have_pages(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await write_pages_of_two_types(wiki)
    shown = (await browser.get(f"/wiki/{owner}")).text
    assert re.findall(r'href="/pages/[^"]*\?type=(\w+)"', shown) == ["entity", "topic"]


async def test_the_page_list_offers_the_types_of_its_pages_as_a_filter(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await write_pages_of_two_types(wiki)

    async def offered(query: str) -> list[str]:
        return re.findall(
            r'<option value="(\w+)"', (await browser.get(f"/pages/{owner}{query}")).text.partition("order")[0]
        )

    assert await offered("") == ["entity", "topic"]
    assert await offered("?type=context") == ["context", "entity", "topic"]  # what was chosen stays so
    assert {"project", "topic"} < set(await offered("?status=archived"))


async def test_a_difference_that_is_too_long_is_not_called_identical(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slug = await add_page(wiki, "Austin", "Hot.")
    page = (await wiki.row("pages", slug=slug))["id"]
    lines = "\n".join(f"Line {number}." for number in range(5_001))
    await append_to_page(wiki.database, wiki.scope, PageAddress(page), text=lines)
    shown = (await browser.get(f"/diff/{owner}/{page}?from=1&to=2")).text
    assert "the rest is not shown" in shown
    assert "identical" not in shown
    same = (await browser.get(f"/diff/{owner}/{page}?from=2&to=2")).text
    assert "identical" in same
    assert "not shown" not in same


async def test_each_page_is_read_by_one_statement(
    statements: list[str], browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slug = await add_page(wiki, "Austin", "Hot. [[Barton]]\n\n## Water\n\nCold.")
    source = await wiki.add_source(content="The pool is cold.")
    page = (await wiki.row("pages", slug=slug))["id"]
    tail = f"{owner}/topic/{slug}"
    of_page = [f"/{kind}/{tail}" for kind in ("wiki", "edit", "rename", "archive", "history", "merge", "move")]
    of_wiki = [f"/{kind}/{owner}" for kind in ("wiki", "pages", "sources", "work", "new", "add-source", "proposals")]
    found = [f"/source/{owner}/{source}", f"/forget/{owner}/{source}", f"/diff/{owner}/{page}?from=1&to=1"]
    searches = [f"/search/{owner}?q=pool", f"/suggest/{owner}?q=pool", f"/sources/{owner}?q=pool"]
    more = [f"/wiki/{tail}.md", f"/preview/{tail}", f"/graph/{owner}/{page}", f"/move/{tail}?name=x"]
    statement_counts = {}
    for path in [*of_page, *of_wiki, *found, *searches, *more]:
        await browser.get(path)
        statements.clear()
        answer = await browser.get(path)
        assert (answer.status_code, path) == (200, path)
        assert len(answer.text) < 100_000
        statement_counts[path] = len([sql for sql in statements if not sql.startswith(("BEGIN", "COMMIT"))])
    # A difference, findings and searches have steps.
    several = {f"/work/{owner}": 3, found[2]: 3, more[2]: 3}
    several |= dict(zip(searches, (7, 6, 4), strict=True))
    assert {path: number for path, number in statement_counts.items() if number > 1} == several


async def test_change_events_are_sent_only_to_signed_in_pages_of_this_service(
    browser: httpx.AsyncClient, service: Service, wiki: Wiki, owner: str
) -> None:
    page = (await wiki.row("pages", slug=await add_page(wiki, "Austin", "Hot.")))["id"]
    assert (await browser.get(f"/follow/{page}", headers={"sec-fetch-site": "cross-site"})).status_code == 403
    assert (await service.http.get(f"/follow/{page}", headers=SAME_ORIGIN)).status_code == 401
    async with browser.stream("GET", f"/follow/{page}", headers=SAME_ORIGIN) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = [line async for line in lines_until(events.aiter_lines(), "data:")]
    assert '"version" : 1' in lines[-1]


async def lines_until(lines: AsyncIterator[str], start: str) -> AsyncIterator[str]:
    async for line in lines:
        yield line
        if line.startswith(start):
            return


async def test_readers_see_no_links_to_edit_a_page(service: Service, wiki: Wiki, owner: str) -> None:
    slug = await add_page(wiki, "Austin", "Hot. [[Nowhere]]")
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        shown = (await reader.get(f"/wiki/{owner}/topic/{slug}")).text
    assert not re.search(r"/(edit|new|rename|archive)/", shown)


async def test_a_page_that_has_not_changed_is_not_sent_again(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"/wiki/{owner}/topic/{await add_page(wiki, 'Austin', 'Hot.')}"
    first = await browser.get(path)
    again = await browser.get(path, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_scripts_of_a_page_have_less_than_60_kb_compressed(browser: httpx.AsyncClient, owner: str) -> None:
    for path in (f"/wiki/{owner}", f"/new/{owner}"):
        scripts = re.findall(r'<script type="module" src="([^"]+)"', (await browser.get(path)).text)
        assert scripts
        assert sum([len(gzip.compress((await browser.get(script)).content)) for script in scripts]) < 60_000


async def test_names_that_begin_with_the_typed_text_are_suggested_first(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "The bats", "They live under a bridge.", aliases=["Aus bats", "Austin bats"])
    await add_page(wiki, "Austin, Texas", "A city.")
    shown = (await browser.get(f"/suggest/{owner}?q=aus")).text
    assert re.findall(r'data-name="([^"]+)"', shown) == ["Austin, Texas", "The bats"]


async def test_a_page_links_its_markdown_and_json_alternates(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "Austin", "Hot.\n\n## Water\n\nCold.", summary="A city.", tags=["city"])
    path = f"/wiki/{owner}/topic/austin"
    shown = (await browser.get(path)).text
    assert f'<link rel="alternate" type="text/markdown" href="{path}.md">' in shown
    assert f'<link rel="alternate" type="application/json" href="{path}.json">' in shown
    site = str(browser.base_url).rstrip("/")
    for name, value in (("title", "Austin"), ("description", "A city."), ("url", f"{site}{path}"), ("type", "article")):
        assert f'<meta property="og:{name}" content="{value}">' in shown
    assert (await browser.get(f"{path}.md")).text == "# Austin\n\nA city.\n\nHot.\n\n## Water\n\nCold.\n"
    answer = await browser.get(f"{path}.json")
    page = answer.json()
    assert (answer.headers["content-type"], page["title"], page["tags"]) == ("application/json", "Austin", ["city"])
    assert [(section["heading"], section["bodyMd"]) for section in page["sections"]] == [
        ("", "Hot."),
        ("Water", "Cold."),
    ]
    assert (await browser.get(f"/wiki/{owner}/topic/nothing.json")).status_code == 404


async def test_similar_pages_are_shown_beside_a_page(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    await add_page(wiki, "Barton Springs", "A cold spring-fed pool in Austin, full of swimmers in summer.")
    await add_page(wiki, "Deep Eddy", "A cold spring-fed pool in Austin, full of swimmers in winter.")
    id = re.search(r'data-related="([^"]+)"', (await browser.get(f"/wiki/{owner}/topic/deep-eddy")).text)
    assert id is not None
    assert f'<a href="/wiki/{owner}/topic/barton-springs">Barton Springs</a>' in (await browser.get(id[1])).text


async def test_a_service_compiles_all_templates_before_its_first_request(dsn: str, tmp_path: Path) -> None:
    templates.cache_clear()
    async with serving(dsn, tmp_path):
        cached = templates().cache
        assert cached is not None
        assert len(cached) == len(templates().list_templates())
