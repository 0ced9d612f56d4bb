"""Pages under other names, and the texts that call them by the old ones."""

import pytest

from resolvers import renaming
from resolvers.aliases import add_alias
from resolvers.errors import BadInput, Conflict
from resolvers.pages import PageDraft, create_page, update_page
from resolvers.renaming import rename_page
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic", **more: object):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body, **more))).page_id


async def body(wiki: Wiki, page_id) -> str:
    return str((await wiki.page(page_id))["body_md"])


@pytest.mark.parametrize(
    ("written", "renamed"),
    [
        ("[[Old Town]]", "[[New Town]]"),
        ("[[Old Town|the town]]", "[[New Town|the town]]"),
        ("[[old  town#Food]] and ![[Old Town]]", "[[New Town#Food]] and ![[New Town]]"),
        ("[[old-town]]", "[[new-town]]"),
        ("[[notes/Old Town.md#Food|eat]]", "[[New Town#Food|eat]]"),
        ("[there](wiki:old-town)", "[there](wiki:new-town)"),
        ('[there](/wiki/topic/old-town#food "Old")', '[there](/wiki/topic/new-town#food "Old")'),
        ("| [[Old Town\\|x]] |", "| [[New Town\\|x]] |"),
        ("`[[Old Town]]` [[OT]] [[team:old-town]] [[Elsewhere]]", None),
    ],
)
async def test_links_say_the_new_name_and_keep_everything_else(wiki: Wiki, written: str, renamed: str | None) -> None:
    old = await create(wiki, "Old Town", aliases=["OT"])
    text = f"Before {written} after."
    linking = await create(wiki, "Linking", f"{text}\n\n## More\n\n{text}")
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    text = text.replace(written, renamed or written)
    assert await body(wiki, linking) == f"{text}\n\n## More\n\n{text}"
    assert (done.rewritten, done.left) == ((linking,) if renamed else (), 0)
    revisions = await wiki.rows("revisions", "version", page_id=linking)
    assert revisions[-1]["edit_summary"] == ("Renamed link: Old Town → New Town" if renamed else None)
    assert old in (await wiki.targets(linking)).values()


async def test_a_link_in_a_heading_is_renamed_and_the_section_stays_what_it_was(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "## About [[Old Town]]\n\nText.")
    section = (await wiki.row("sections", page_id=linking))["id"]
    await rename_page(wiki.database, wiki.scope, old, title="New Town")
    assert (await wiki.row("sections", page_id=linking))["id"] == section
    assert await body(wiki, linking) == "## About [[New Town]]\n\nText."


async def test_only_what_was_renamed_is_written_anew(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]] [[old-town]]")
    await rename_page(wiki.database, wiki.scope, old, slug="new-town")
    assert await body(wiki, linking) == "[[Old Town]] [[new-town]]"
    again = await rename_page(wiki.database, wiki.scope, old, slug="new-town")
    assert (again.saved.changed, again.rewritten) == (False, ())


async def test_a_page_that_links_to_itself_is_rewritten_too(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town", "See [[Old Town]].")
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town")
    page = await wiki.page(old)
    assert (page["body_md"], page["version"], done.saved.version) == ("See [[New Town]].", 3, 3)


async def test_a_name_that_means_another_page_is_put_into_no_link(wiki: Wiki) -> None:
    """The old name goes on meaning the page, and the new one would not."""
    other = await create(wiki, "New Town", type="entity")
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]] [x](wiki:old-town) [y](/wiki/topic/old-town) [[New Town]]")
    await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    assert await body(wiki, linking) == "[[Old Town]] [x](wiki:old-town) [y](/wiki/topic/new-town) [[New Town]]"
    targets = await wiki.targets(linking)
    assert targets == {"new-town": other, "old-town": old, "topic/new-town": old}


@pytest.mark.parametrize("title", ["C# [notes]", "a | b", "!!!"])
async def test_a_title_that_no_link_can_say_is_put_into_none(wiki: Wiki, title: str) -> None:
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]]")
    await rename_page(wiki.database, wiki.scope, old, title=title)
    assert await body(wiki, linking) == "[[Old Town]]"
    assert await wiki.targets(linking) == {"old-town": old}


async def test_back_and_forth_leads_nowhere_else(wiki: Wiki) -> None:
    page = await create(wiki, "A")
    linking = await create(wiki, "Linking", "[[a]] [[A]]")
    for title, slug in (("B", "b"), ("A", "a"), ("C", "c"), ("A", "a")):
        await rename_page(wiki.database, wiki.scope, page, title=title, slug=slug)
    assert await body(wiki, linking) == "[[a]] [[A]]"
    assert {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")} == {"b": page, "c": page}


async def test_a_hub_is_renamed_with_as_many_texts_as_fit(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renaming, "REWRITTEN_MAX", 2)
    old = await create(wiki, "Old Town")
    linking = [await create(wiki, f"Linking {n}", "[[Old Town]]") for n in range(5)]
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town")
    assert (len(done.rewritten), done.left) == (2, 3)
    assert [await wiki.targets(page) for page in linking].count({"old-town": old}) == 3
    for page in linking:
        assert set((await wiki.targets(page)).values()) == {old}


async def test_a_rename_is_refused_whole(wiki: Wiki) -> None:
    old, _ = await create(wiki, "Old Town"), await create(wiki, "Taken")
    linking = await create(wiki, "Linking", "[[Old Town]]")
    for given, error in (({"slug": "taken"}, BadInput), ({"title": " "}, BadInput), ({"slug": "No Slug"}, BadInput)):
        with pytest.raises(error):
            await rename_page(wiki.database, wiki.scope, old, **given)
    await update_page(wiki.database, wiki.scope, old, summary="x")
    with pytest.raises(Conflict):
        await rename_page(wiki.database, wiki.scope, old, title="New Town", expected_version=1)
    assert await body(wiki, linking) == "[[Old Town]]"


async def test_the_old_names_are_names_still(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town")
    await add_alias(wiki.database, wiki.scope, old, name="OT")
    await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    assert {row["alias"] for row in await wiki.rows("aliases")} == {"old town", "ot", "new town"}
    late = await create(wiki, "Late", "[[Old Town]] [[old-town]] [[New Town]]")
    assert set((await wiki.targets(late)).values()) == {old}
