"""Writing in the reader's forms: concurrent edits are merged or shown as conflicts, and versions are restored."""

import html
import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.merging import merge_bodies
from app.web.pages.write import split_line
from content.markdown.sections import Section, parse, render
from db.scope import Role
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.wiki import Wiki

WATER = "## Water\n\nCold."
CITY = f"{WATER}\n\n## Food\n\nHot."
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
TEXTAREA = re.compile(r'<textarea id="body"[^>]*>\n(.*?)</textarea>', re.DOTALL)


def form_of(page: httpx.Response) -> dict[str, str]:
    """Return the hidden fields of a page's form, as a browser sends them."""
    return dict(HIDDEN.findall(page.text))


async def test_a_form_creates_a_page(browser: httpx.AsyncClient, owner: str) -> None:
    form = await browser.get(f"/new/{owner}?title=Old+Mill")
    assert 'name="title" required maxlength="500" value="Old Mill"' in form.text
    given = {"type": "topic", "title": "Old Mill", "slug": "", "summary": "A mill.", "tags": "river, #stone"}
    body = "## Summary\r\n\r\nIt *turns*.\r\n\r\n## Highlights\r\n\r\n"
    created = await browser.post(f"/new/{owner}", data=given | {"body": body}, headers=SAME_ORIGIN)
    assert (created.status_code, created.headers["location"]) == (303, f"/wiki/{owner}/topic/old-mill")
    shown = (await browser.get(created.headers["location"])).text
    assert "<em>turns</em>" in shown
    assert "Highlights" not in shown  # nothing was written under it
    assert all(f"?tag={tag}" in shown for tag in ("river", "stone"))


async def test_a_form_with_a_mistake_is_shown_again_with_its_values(browser: httpx.AsyncClient, owner: str) -> None:
    given = {"type": "topic", "title": "!!!", "slug": "", "summary": "", "tags": "", "body": "Long <b>text</b>."}
    answer = await browser.post(f"/new/{owner}", data=given, headers=SAME_ORIGIN)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "Long &lt;b&gt;text&lt;/b&gt;." in answer.text


async def test_editing_a_section_leaves_other_sections_unchanged(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', CITY)}"
    form = await browser.get(f"/edit/{path}?section=water")
    assert TEXTAREA.findall(form.text) == ["Cold."]
    change = form_of(form) | {"heading": "Water", "body": "Warm.", "edit_summary": "Summer"}
    saved = await browser.post(f"/edit/{path}", data=change, headers=SAME_ORIGIN)
    assert saved.headers["location"] == f"/wiki/{path}#water"
    assert (await browser.get(f"/wiki/{path}.md")).text == "# Austin\n\n## Water\n\nWarm.\n\n## Food\n\nHot.\n"
    assert "Summer" in (await browser.get(f"/history/{path}")).text


@pytest.mark.parametrize("section", ["water", ""])
async def test_edits_of_different_sections_are_merged(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str, section: str
) -> None:  # fmt: skip
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', CITY)}"
    mine = form_of(await browser.get(f"/edit/{path}?section={section}"))
    theirs = form_of(await browser.get(f"/edit/{path}?section=food")) | {"body": "Spicy."}
    assert (await browser.post(f"/edit/{path}", data=theirs, headers=SAME_ORIGIN)).status_code == 303
    body = "Warm." if section else "## Water\n\nWarm.\n\n## Food\n\nHot."
    assert (await browser.post(f"/edit/{path}", data=mine | {"body": body}, headers=SAME_ORIGIN)).status_code == 303
    assert (await browser.get(f"/wiki/{path}.md")).text == "# Austin\n\n## Water\n\nWarm.\n\n## Food\n\nSpicy.\n"


async def test_conflicting_edits_of_a_section_are_shown_side_by_side(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', WATER)}"
    mine = form_of(await browser.get(f"/edit/{path}?section=water"))
    assert (await browser.post(f"/edit/{path}", data=mine | {"body": "Icy."}, headers=SAME_ORIGIN)).status_code == 303
    conflict = await browser.post(f"/edit/{path}", data=mine | {"body": "Warm."}, headers=SAME_ORIGIN)
    assert conflict.status_code == 409
    assert re.findall(r"<pre[^>]*>(.*?)</pre>", conflict.text) == ["Cold.", "Icy."]
    assert TEXTAREA.findall(conflict.text) == ["Warm."]
    assert (await browser.get(f"/wiki/{path}.md")).text.endswith("Icy.\n")
    resolved = form_of(conflict) | {"body": "Cool."}
    assert (await browser.post(f"/edit/{path}", data=resolved, headers=SAME_ORIGIN)).status_code == 303
    assert (await browser.get(f"/wiki/{path}.md")).text.endswith("Cool.\n")


async def test_a_form_that_is_shown_again_with_a_mistake_overwrites_no_change(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', WATER)}"
    mine = form_of(await browser.get(f"/edit/{path}")) | {"body": "## Water\n\nWarm.", "summary": ""}
    theirs = mine | {"body": "## Water\n\nIcy.", "summary": "A city.", "tags": ""}
    assert (await browser.post(f"/edit/{path}", data=theirs, headers=SAME_ORIGIN)).status_code == 303
    mistake = await browser.post(f"/edit/{path}", data=mine | {"tags": "x" * 200}, headers=SAME_ORIGIN)
    assert mistake.status_code == 422
    mended = form_of(mistake) | {"body": "## Water\n\nWarm.", "summary": "", "tags": ""}
    assert (await browser.post(f"/edit/{path}", data=mended, headers=SAME_ORIGIN)).status_code == 409
    page = (await browser.get(f"/wiki/{path}.json")).json()
    assert (page["summary"], page["version"]) == ("A city.", 2)


async def test_edits_of_tags_are_merged_and_edits_of_the_summary_conflict(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', WATER, tags=['city', 'old'])}"
    mine = form_of(await browser.get(f"/edit/{path}")) | {"body": WATER, "summary": "", "tags": "city, old"}
    theirs = mine | {"tags": "city, theirs", "summary": "Theirs."}
    assert (await browser.post(f"/edit/{path}", data=theirs, headers=SAME_ORIGIN)).status_code == 303
    tagged = mine | {"tags": "city, old, mine"}
    assert (await browser.post(f"/edit/{path}", data=tagged, headers=SAME_ORIGIN)).status_code == 303
    page = (await browser.get(f"/wiki/{path}.json")).json()
    assert (page["tags"], page["summary"]) == (["city", "theirs", "mine"], "Theirs.")
    changed = mine | {"summary": "Mine.", "tags": "city, old, last"}
    conflict = await browser.post(f"/edit/{path}", data=changed, headers=SAME_ORIGIN)
    assert conflict.status_code == 409
    assert "Theirs." in conflict.text
    assert '<label for="summary">' in conflict.text
    resolved = form_of(conflict) | {"body": WATER, "summary": "Both."}
    assert (await browser.post(f"/edit/{path}", data=resolved, headers=SAME_ORIGIN)).status_code == 303
    page = (await browser.get(f"/wiki/{path}.json")).json()
    assert (page["tags"], page["summary"]) == (["city", "theirs", "mine", "last"], "Both.")


async def test_tags_with_commas_stay_whole(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    tags = ["Austin, Texas", '"quoted" one', "plain", 'the "Mill"']
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', WATER, tags=tags)}"
    form = await browser.get(f"/edit/{path}")
    shown = html.unescape(re.findall(r'name="tags" value="([^"]*)"', form.text)[0])
    opened = {name: html.unescape(value) for name, value in form_of(form).items()} | {"body": WATER, "summary": ""}
    for added in ("river", "stone"):  # the second form is older than the first edit, and merged with it
        changed = await browser.post(
            f"/edit/{path}", data=opened | {"tags": f'{shown}, {added}, "'}, headers=SAME_ORIGIN
        )
        assert changed.status_code == 303
    assert (await browser.get(f"/wiki/{path}.json")).json()["tags"] == [*tags, "river", '"', "stone"]


@pytest.mark.parametrize("renames_first", [False, True])
async def test_an_edit_of_a_section_is_merged_with_its_new_heading(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str, renames_first: bool
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', CITY)}"
    mine, renamed = [form_of(await browser.get(f"/edit/{path}?section=water")) for _ in range(2)]
    renamed |= {"heading": "Rivers", "body": "Cold."}
    assert (await browser.post(f"/edit/{path}", data=renamed, headers=SAME_ORIGIN)).status_code == 303
    heading = "Water"
    if renames_first:
        heading = "Rivers"
        mine = form_of(await browser.get(f"/edit/{path}?section=water"))
        other = form_of(await browser.get(f"/edit/{path}?section=food")) | {"heading": "Food", "body": "Spicy."}
        assert (await browser.post(f"/edit/{path}", data=other, headers=SAME_ORIGIN)).status_code == 303
    saved = await browser.post(f"/edit/{path}", data=mine | {"heading": heading, "body": "Warm."}, headers=SAME_ORIGIN)
    assert saved.status_code == 303
    assert "## Rivers\n\nWarm.\n" in (await browser.get(f"/wiki/{path}.md")).text


async def test_a_section_that_was_removed_meanwhile_can_be_saved_with_its_heading(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', CITY)}"
    mine = form_of(await browser.get(f"/edit/{path}?section=water")) | {"heading": "Water", "body": "Warm."}
    theirs = form_of(await browser.get(f"/edit/{path}")) | {"body": "## Food\n\nHot."}
    assert (await browser.post(f"/edit/{path}", data=theirs, headers=SAME_ORIGIN)).status_code == 303
    conflict = await browser.post(f"/edit/{path}", data=mine, headers=SAME_ORIGIN)
    assert conflict.status_code == 409
    kept = form_of(conflict) | {"body": "Warm."}
    assert (await browser.post(f"/edit/{path}", data=kept, headers=SAME_ORIGIN)).status_code == 303
    assert "## Water\n\nWarm.\n" in (await browser.get(f"/wiki/{path}.md")).text


async def test_the_summary_of_a_form_is_one_line_as_browsers_send_it(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    summary = "A city\nin Texas."
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', WATER, summary=summary)}"
    form = await browser.get(f"/edit/{path}")
    assert 'name="summary" value="A city in Texas."' in form.text
    change = form_of(form) | {"body": "Warm.", "summary": "A city in Texas.", "tags": ""}
    assert (await browser.post(f"/edit/{path}", data=change, headers=SAME_ORIGIN)).status_code == 303
    assert (await browser.get(f"/wiki/{path}.json")).json()["summary"] == summary


async def test_renaming_announces_and_updates_the_texts_that_link_to_the_page(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'Hot.')}"
    other = await add_page(wiki, "Texas", "See [[Austin]].")
    form = await browser.get(f"/rename/{path}")
    assert "1 text linking to this page will be updated" in form.text
    renamed = await browser.post(
        f"/rename/{path}", data=form_of(form) | {"title": "Austin, Texas"}, headers=SAME_ORIGIN
    )
    assert renamed.headers["location"] == f"/wiki/{owner}/topic/austin-texas"
    assert (await browser.get(f"/wiki/{path}")).headers["location"] == renamed.headers["location"]
    assert "See [[Austin, Texas]]." in (await browser.get(f"/wiki/{owner}/topic/{other}.md")).text


async def test_an_archived_page_leaves_lists_and_can_be_unarchived(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'Hot.')}"
    id = form_of(await browser.get(f"/archive/{path}"))
    assert (await browser.post(f"/archive/{path}", data=id, headers=SAME_ORIGIN)).status_code == 303
    assert f"/wiki/{path}" not in (await browser.get(f"/pages/{owner}")).text
    assert f"/wiki/{path}" in (await browser.get(f"/pages/{owner}?status=archived")).text
    assert "This page is archived" in (await browser.get(f"/wiki/{path}")).text
    assert (await browser.post(f"/unarchive/{path}", data=id, headers=SAME_ORIGIN)).status_code == 303
    assert f"/wiki/{path}" in (await browser.get(f"/pages/{owner}")).text


async def test_versions_are_compared_by_word_and_restored(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'The water is cold here.')}"
    form = form_of(await browser.get(f"/edit/{path}"))
    await browser.post(f"/edit/{path}", data=form | {"body": "The water is warm here."}, headers=SAME_ORIGIN)
    diff = await browser.get(f"/diff/{owner}/{form['id']}?from=2&to=1")
    assert re.findall(r"<(ins|del)>(.*?)</\1>", diff.text) == [("del", "cold"), ("ins", "warm")]
    restored = await browser.post(f"/restore/{owner}/{form['id']}", data=form_of(diff), headers=SAME_ORIGIN)
    assert restored.status_code == 303
    assert "cold" in (await browser.get(f"/wiki/{path}.md")).text


async def test_the_preview_escapes_html_and_unsafe_links(browser: httpx.AsyncClient, owner: str) -> None:
    body = "*a* <img src=x onerror=alert(1)> [x](javascript:alert(1)) [[Page]]"
    shown = (await browser.post(f"/render/{owner}", data={"body": body}, headers=SAME_ORIGIN)).text
    assert "<em>a</em>" in shown
    assert "&lt;img" in shown
    assert 'href="javascript' not in shown
    assert '<a class="wiki-link">Page</a>' in shown


async def test_readers_cannot_open_or_send_editing_forms(service: Service, wiki: Wiki, owner: str) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'Hot.')}"
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        for address in (f"/edit/{path}", f"/new/{owner}", f"/rename/{path}", f"/archive/{path}"):
            answer = await reader.get(address)
            assert (answer.status_code, "You can read this wiki" in answer.text) == (403, True)
        id = str((await wiki.row("pages", slug="austin"))["id"])
        assert (await reader.post(f"/archive/{path}", data={"id": id}, headers=SAME_ORIGIN)).status_code == 403


# -- merging


TEXTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", "three"]), max_size=5)


def body(texts: dict[str, str]) -> str:
    return render(Section(slug, slug, text) for slug, text in texts.items())


@given(TEXTS, TEXTS)
def test_a_merge_of_one_changed_body_returns_that_body(base: dict[str, str], yours: dict[str, str]) -> None:
    assert merge_bodies(body(base), body(yours), body(base)) == body(yours)
    assert merge_bodies(body(base), body(base), body(yours)) == body(yours)


@given(TEXTS, st.data())
def test_a_merge_keeps_changes_of_different_sections(base: dict[str, str], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(sorted(base))) if base else st.just(set()))
    yours = {slug: "mine" if slug in chosen else text for slug, text in base.items()}
    theirs = {slug: text if slug in chosen else "theirs" for slug, text in base.items()}
    both = {slug: "mine" if slug in chosen else "theirs" for slug in base}
    assert merge_bodies(body(base), body(yours), body(theirs)) == body(both)


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_loses_no_change_of_a_section(
    base: dict[str, str], yours: dict[str, str], theirs: dict[str, str]
) -> None:
    merged = merge_bodies(body(base), body(yours), body(theirs))
    if merged is None:
        return
    found = {section.slug: section.body for section in parse(merged)}
    for changed in (yours, theirs):
        for slug in base.keys() | changed.keys():
            if changed.get(slug) != base.get(slug):
                assert found.get(slug) == changed.get(slug)


@given(st.text(), st.lists(st.integers(0, 20), max_size=6, unique=True))
def test_the_pieces_of_a_split_line_are_the_whole_line(text: str, cuts: list[int]) -> None:
    cuts = sorted(cut for cut in cuts if cut <= len(text))
    parts = [{"start": a, "length": b - a} for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    assert "".join(piece for piece, _ in split_line(text, parts)) == text
