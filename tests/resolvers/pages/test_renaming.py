"""Renaming pages, and rewriting the texts that link to them by their old names."""

from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest

from content.sensitivity import LEVELS
from db.ids import new_id
from resolvers.errors import BadInput, Conflict
from resolvers.model.drafts import PageDraft
from resolvers.pages import renaming
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import create_page, delete_page, update_page
from resolvers.pages.renaming import TEXTS_PER_BATCH, rename_page, rewrite_next, rewrite_rest
from tests.recording_database import recording_database
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
async def test_renamed_links_use_the_new_name_and_keep_the_rest_of_the_text(
    wiki: Wiki, written: str, renamed: str | None
) -> None:
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


async def test_the_new_name_of_a_sensitive_page_is_not_written_into_less_sensitive_pages(wiki: Wiki) -> None:
    """Their links keep the old name, which leads to the page as before, and their histories do not tell the new one."""
    plan = await create(wiki, "Plan", fields={"sensitivity": "confidential"})
    levels = {level: await create(wiki, level, "[[Plan]]", fields={"sensitivity": level}) for level in LEVELS}
    done = await rename_page(wiki.database, wiki.scope, plan, title="Layoffs", slug="layoffs")
    assert done.rewritten == (levels["confidential"], levels["secret"])
    assert [await body(wiki, page_id) for page_id in levels.values()] == ["[[Plan]]"] * 2 + ["[[Layoffs]]"] * 2
    assert (await wiki.targets(levels["public"])) == {"plan": plan}


async def test_renaming_a_link_in_a_heading_keeps_the_id_of_the_section(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "## About [[Old Town]]\n\nText.")
    section = (await wiki.row("sections", page_id=linking))["id"]
    await rename_page(wiki.database, wiki.scope, old, title="New Town")
    assert (await wiki.row("sections", page_id=linking))["id"] == section
    assert await body(wiki, linking) == "## About [[New Town]]\n\nText."


async def test_only_texts_with_the_renamed_link_are_rewritten(wiki: Wiki) -> None:
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


async def test_links_keep_the_old_name_when_the_new_name_means_another_page(wiki: Wiki) -> None:
    """The old name still resolves to the renamed page, and the new name resolves to another page."""
    other = await create(wiki, "New Town", type="entity")
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]] [x](wiki:old-town) [y](/wiki/topic/old-town) [[New Town]]")
    await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    assert await body(wiki, linking) == "[[Old Town]] [x](wiki:old-town) [y](/wiki/topic/new-town) [[New Town]]"
    targets = await wiki.targets(linking)
    assert targets == {"new-town": other, "old-town": old, "topic/new-town": old}


async def test_links_by_a_slug_shared_with_another_type_follow_the_rename(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links left unchanged would resolve to the other page, so all are rewritten in one transaction."""
    monkeypatch.setattr(renaming, "TEXTS_PER_BATCH", 1)
    old = await create(wiki, "Old Town")
    other = await create(wiki, "Old Town", type="entity")
    texts = "[[old-town]] [[Old Town|x]] [y](/wiki/topic/old-town)", "[there](wiki:old-town#food)", "[[old-town]]"
    linking = [await create(wiki, f"Linking {n}", text) for n, text in enumerate(texts)]
    untouched = await create(wiki, "Other", "[z](/wiki/entity/old-town)")
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    assert (set(done.rewritten), done.left) == (set(linking), 0)
    assert [await body(wiki, page) for page in linking] == [
        "[[new-town]] [[New Town|x]] [y](/wiki/topic/new-town)", "[there](wiki:new-town#food)", "[[new-town]]",
    ]  # fmt: skip
    assert [set((await wiki.targets(page)).values()) for page in linking] == [{old}] * 3
    assert await wiki.targets(untouched) == {"entity/old-town": other}
    assert await wiki.rows("renamings") == []


@pytest.mark.parametrize("title", ["C# [notes]", "a | b", "!!!"])
async def test_a_title_that_links_cannot_contain_is_not_written_into_links(wiki: Wiki, title: str) -> None:
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]]")
    await rename_page(wiki.database, wiki.scope, old, title=title)
    assert await body(wiki, linking) == "[[Old Town]]"
    assert await wiki.targets(linking) == {"old-town": old}


async def test_renaming_back_and_forth_restores_the_text_of_links(wiki: Wiki) -> None:
    page = await create(wiki, "A")
    linking = await create(wiki, "Linking", "[[a]] [[A]]")
    for title, slug in (("B", "b"), ("A", "a"), ("C", "c"), ("A", "a")):
        await rename_page(wiki.database, wiki.scope, page, title=title, slug=slug)
    assert await body(wiki, linking) == "[[a]] [[A]]"
    assert {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")} == {"b": page, "c": page}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renaming, "TEXTS_PER_BATCH", 2)


async def hub(wiki: Wiki, number: int = 5) -> tuple[UUID, list[UUID]]:
    """Create a page and pages that link to it, and return their ids."""
    return await create(wiki, "Old Town"), [await create(wiki, f"Linking {n}", "[[Old Town]]") for n in range(number)]


@pytest.mark.usefixtures("small_batches")
async def test_links_in_more_texts_than_a_batch_get_the_new_name(wiki: Wiki) -> None:
    old, linking = await hub(wiki)
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town")
    assert (done.rewritten, done.left) == (tuple(linking), 0)
    assert [await body(wiki, page) for page in linking] == ["[[New Town]]"] * 5
    assert await wiki.rows("renamings") == []


@pytest.mark.usefixtures("small_batches")
async def test_links_left_after_the_time_limit_are_rewritten_by_the_service(wiki: Wiki) -> None:
    old, linking = await hub(wiki)
    done = await rename_page(wiki.database, wiki.scope, old, title="New Town", time_limit=0)
    assert (len(done.rewritten), done.left) == (2, 3)
    assert [set((await wiki.targets(page)).values()) for page in linking] == [{old}] * 5
    assert await rewrite_rest(wiki.database) == 3
    assert [await body(wiki, page) for page in linking] == ["[[New Town]]"] * 5
    assert await rewrite_rest(wiki.database) == 0
    revisions = await wiki.rows("revisions", "version", page_id=linking[-1])
    assert [(row["version"], row["author_id"]) for row in revisions] == [(1, "marco"), (2, "marco")]


@pytest.mark.usefixtures("small_batches")
async def test_repeating_a_rename_continues_where_it_stopped(wiki: Wiki) -> None:
    old, linking = await hub(wiki)
    await rename_page(wiki.database, wiki.scope, old, title="New Town", time_limit=0)
    again = await rename_page(wiki.database, wiki.scope, old, title="New Town")
    assert (again.saved.changed, len(again.rewritten), again.left) == (False, 3, 0)
    assert [await body(wiki, page) for page in linking] == ["[[New Town]]"] * 5


@pytest.mark.usefixtures("small_batches")
async def test_links_to_a_page_renamed_twice_get_its_last_name(wiki: Wiki) -> None:
    old, linking = await hub(wiki)
    await rename_page(wiki.database, wiki.scope, old, title="New Town", time_limit=0)
    await rename_page(wiki.database, wiki.scope, old, title="Newest Town", time_limit=0)
    await rewrite_rest(wiki.database)
    assert [await body(wiki, page) for page in linking] == ["[[Newest Town]]"] * 5


@pytest.mark.usefixtures("small_batches")
async def test_pending_link_rewrites_are_deleted_with_their_page(wiki: Wiki) -> None:
    old, _ = await hub(wiki)
    await rename_page(wiki.database, wiki.scope, old, title="New Town", time_limit=0)
    await delete_page(wiki.database, wiki.scope, old)
    assert await rewrite_rest(wiki.database) == 0


async def copy_page(wiki: Wiki, page_id: UUID, number: int) -> None:
    """Insert `number` copies of a page, with the rows that a rename reads."""
    ids = [new_id() for _ in range(number)]
    for table, own, copied in (
        ("pages", "id", "type, slug || '-' || n, title || ' ' || n, body_md"),
        ("link_targets", "from_page_id", "target, space, type, slug, alias, text, to_page_id"),
        ("links", "from_page_id", "gen_random_uuid(), to_page_id, kind, reasons"),
        ("sections", "page_id", "gen_random_uuid(), section_slug, heading, body_md, position"),
    ):
        columns = copied.replace(" || '-' || n", "").replace(" || ' ' || n", "").replace("gen_random_uuid()", "id")
        await wiki.connection.execute(
            f"INSERT INTO {table} (tenant_id, owner_id, {own}, {columns}) SELECT tenant_id, owner_id, given, {copied} "
            f"FROM {table} CROSS JOIN unnest($1::uuid[]) WITH ORDINALITY AS new (given, n) WHERE {own} = $2",
            ids,
            page_id,
        )


async def test_a_page_with_two_thousand_links_is_renamed_in_bounded_transactions(wiki: Wiki, dsn: str) -> None:
    """The cost of a text does not grow with the number of texts, and no transaction has more than a hundred texts."""
    old = await create(wiki, "Old Town")
    linking = await create(wiki, "Linking", "[[Old Town]]")
    async with recording_database(dsn) as database:

        async def sent(work: Awaitable[Any]) -> int:
            before = len(await database.sent_statements())
            await work
            return len(await database.sent_statements()) - before

        without_links = await sent(rename_page(database, wiki.scope, linking, title="Links"))
        with_one_link = await sent(rename_page(database, wiki.scope, old, title="New Town"))
        await copy_page(wiki, linking, 1_999)
        first = await sent(rename_page(database, wiki.scope, old, title="Newest Town", time_limit=0))
        left = await wiki.row("renamings")
        second = await sent(rewrite_next(database, wiki.scope, left["id"]))
        assert left["remaining"] == 2_000 - TEXTS_PER_BATCH
        assert (await wiki.row("renamings"))["remaining"] == 2_000 - 2 * TEXTS_PER_BATCH
        assert max(first, second) <= TEXTS_PER_BATCH * (with_one_link - without_links + 1)
    await wiki.connection.execute("DELETE FROM link_targets WHERE tenant_id = $1", wiki.scope.tenant_id)
    await wiki.empty()


async def test_a_refused_rename_rewrites_no_links(wiki: Wiki) -> None:
    old, _ = await create(wiki, "Old Town"), await create(wiki, "Taken")
    linking = await create(wiki, "Linking", "[[Old Town]]")
    for given, error in (({"slug": "taken"}, BadInput), ({"title": " "}, BadInput), ({"slug": "No Slug"}, BadInput)):
        with pytest.raises(error):
            await rename_page(wiki.database, wiki.scope, old, **given)
    await update_page(wiki.database, wiki.scope, old, summary="x")
    with pytest.raises(Conflict):
        await rename_page(wiki.database, wiki.scope, old, title="New Town", expected_version=1)
    assert await body(wiki, linking) == "[[Old Town]]"


async def test_the_old_title_and_slug_still_resolve_after_a_rename(wiki: Wiki) -> None:
    old = await create(wiki, "Old Town")
    await add_alias(wiki.database, wiki.scope, old, name="OT")
    await rename_page(wiki.database, wiki.scope, old, title="New Town", slug="new-town")
    assert {row["alias"] for row in await wiki.rows("aliases")} == {"old town", "ot", "new town"}
    late = await create(wiki, "Late", "[[Old Town]] [[old-town]] [[New Town]]")
    assert set((await wiki.targets(late)).values()) == {old}
