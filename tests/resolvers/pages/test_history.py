"""Revisions of a page: stored in little space, compared, and restored."""

import random

import pytest

from db.scope import Role
from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.pages.history import compare_states, restore_state
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.revision_store import STATES_MAX, find_states
from tests.wiki import Wiki

WORDS = ["kettle", "grinder", "café", "日本", "roast", "bean", "harbour", "\n\n", "\n- "]


async def create(wiki: Wiki, body: str, **more: object):
    draft = PageDraft("topic", "Austin", body=body, **more)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def test_every_revision_is_read_unchanged_and_takes_little_space(wiki: Wiki) -> None:
    rng = random.Random(1)
    text = " ".join(f"{rng.choice(WORDS)}{n}" for n in range(1_000))
    page_id = await create(wiki, text)
    texts = [(await wiki.page(page_id))["body_md"]]
    for number in range(80):
        words = texts[-1].split(" ")
        words[rng.randrange(len(words))] = f"{rng.choice(WORDS)} edit {number}"
        await update_page(wiki.database, wiki.scope, page_id, body=" ".join(words))
        texts.append((await wiki.page(page_id))["body_md"])
    async with wiki.database.connection() as connection:
        states = await find_states(connection, wiki.scope, page_id, range(1, 82))
    assert [state.body for state in states] == texts
    rows = await wiki.rows("revisions", "version")
    whole = [row["version"] for row in rows if row["base_version"] is None]
    assert 1 < len(whole) < 20, "a base now and then"
    assert all(row["version"] - row["base_version"] < STATES_MAX for row in rows if row["base_version"])


async def test_a_revision_stored_whole_is_the_base_of_later_differences(wiki: Wiki) -> None:
    """Older releases stored every revision whole."""
    text = "A line that stays.\n" * 100
    page_id = await create(wiki, text)
    await update_page(wiki.database, wiki.scope, page_id, title="Austin, Texas")
    await update_page(wiki.database, wiki.scope, page_id, body=text + "One more.")
    assert [row["base_version"] for row in await wiki.rows("revisions", "version")] == [None, 1, 1]


async def test_two_revisions_are_compared_in_either_order(wiki: Wiki) -> None:
    page_id = await create(wiki, "Hot.\n\nBats.")
    await update_page(wiki.database, wiki.scope, page_id, body="Hot.\n\nBats and owls.")
    found = await compare_states(wiki.database, wiki.scope, page_id, 1, 2)
    back = await compare_states(wiki.database, wiki.scope, page_id, 2, 1)
    assert found.unified.splitlines() == [
        "--- version 1", "+++ version 2", "@@ -1,3 +1,3 @@", " Hot.", " ", "-Bats.",
        "\\ No newline at end of file", "+Bats and owls.", "\\ No newline at end of file",
    ]  # fmt: skip
    assert (back.difference.removed, back.difference.added) == (1, 1)
    assert "-Bats and owls." in back.unified


async def test_comparing_unreadable_pages_or_unknown_versions_is_not_found(wiki: Wiki) -> None:
    page_id, other = await create(wiki, "Hot."), await wiki.neighbour(Role.MEMBER)
    for scope, versions in (
        (other.scope, (1, 1)),
        (wiki.scope, (1, 2)),
        (wiki.scope, (0, 1)),
        (wiki.scope, (1, 2**40)),
    ):
        with pytest.raises(NotFound):
            await compare_states(wiki.database, scope, page_id, *versions)


async def test_restoring_a_version_creates_a_new_version_with_its_content(wiki: Wiki) -> None:
    page_id = await create(wiki, "Lead.\n\n## Food\n\nTacos.", summary="A city.", tags=["us"], metadata={"a": 1})
    changed = {"title": "Waterloo", "body": "Nothing.", "summary": "", "tags": [], "slug": "waterloo", "metadata": {}}
    await update_page(wiki.database, wiki.scope, page_id, **changed)
    saved = await restore_state(wiki.database, wiki.scope, page_id, 1, expected_version=2)
    page = await wiki.page(page_id)
    assert (saved.version, page["title"], page["summary"], page["tags"]) == (3, "Austin", "A city.", ["us"])
    assert page["body_md"] == "Lead.\n\n## Food\n\nTacos."
    assert (page["slug"], page["metadata"]) == ("waterloo", {"a": 1}), "a URL that others may hold stays"
    assert [row["edit_summary"] for row in await wiki.rows("revisions", "version")][-1] == "Restored to version 1"
    assert (await wiki.actions())[-1] == "page.restored"
    again = await restore_state(wiki.database, wiki.scope, page_id, 3)
    assert (again.changed, again.version) == (False, 3)


async def test_a_change_of_metadata_alone_can_be_undone(wiki: Wiki) -> None:
    page_id = await create(wiki, "Hot.", metadata={"confidence": "high"})
    await update_page(wiki.database, wiki.scope, page_id, metadata={"confidence": "low"})
    saved = await restore_state(wiki.database, wiki.scope, page_id, 1)
    assert (saved.changed, (await wiki.page(page_id))["metadata"]) == (True, {"confidence": "high"})


async def test_a_restored_section_keeps_a_stricter_mark_of_its_sensitivity(wiki: Wiki) -> None:
    first, pay = "## Pay\n\nMuch.", "## Pay {{sensitivity={}}}\n\n{}"
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body=first))).page_id
    for body in (pay.format("secret", "More."), pay.format("confidential", "Most.")):
        await update_page(wiki.database, wiki.scope, page_id, body=body)
    for version, restored in ((1, ("confidential", "Much.")), (2, ("secret", "More.")), (3, ("secret", "Most."))):
        await restore_state(wiki.database, wiki.scope, page_id, version)
        assert (await wiki.page(page_id))["body_md"] == pay.format(*restored)
    for body in (pay.format("public", "Much."), first):
        await update_page(wiki.database, wiki.scope, page_id, body=body)
    await restore_state(wiki.database, wiki.scope, page_id, 7)
    assert (await wiki.page(page_id))["body_md"] == pay.format("public", "Much.")


async def test_restoring_a_version_without_metadata_keeps_the_current_metadata(wiki: Wiki) -> None:
    page_id = await create(wiki, "Hot.", metadata={"a": 1})
    unknown = "slug = NULL, metadata = NULL, aliases = NULL, facts_version = NULL"
    await wiki.connection.execute(f"UPDATE revisions SET {unknown} WHERE page_id = $1", page_id)
    await update_page(wiki.database, wiki.scope, page_id, body="Cold.", metadata={"a": 2})
    await restore_state(wiki.database, wiki.scope, page_id, 1)
    page = await wiki.page(page_id)
    assert (page["body_md"], page["metadata"]) == ("Hot.", {"a": 2})


async def test_unchanged_fields_of_revisions_are_stored_once(wiki: Wiki) -> None:
    page_id = await create(wiki, "A line that stays.\n" * 100, metadata={"long": "x" * 1_000})
    for number in range(5):
        await update_page(wiki.database, wiki.scope, page_id, summary=f"{number}")
    await update_page(wiki.database, wiki.scope, page_id, slug="austin-texas")
    await update_page(wiki.database, wiki.scope, page_id, summary="Last.")
    rows = await wiki.rows("revisions", "version")
    assert [row["facts_version"] for row in rows] == [None, 1, 1, 1, 1, 1, None, 7]
    assert [row["slug"] for row in rows] == ["austin", *[None] * 5, "austin-texas", None]


async def test_restoring_an_unknown_version_or_over_a_newer_one_is_refused(wiki: Wiki) -> None:
    page_id = await create(wiki, "Hot.")
    for unknown in (9, 99_999_999_999):
        with pytest.raises(NotFound, match=f"no version {unknown}"):
            await restore_state(wiki.database, wiki.scope, page_id, unknown)
        with pytest.raises(NotFound, match=f"no version {unknown}"):
            await compare_states(wiki.database, wiki.scope, page_id, 1, unknown)
    with pytest.raises(BadInput, match="from 1"):
        await restore_state(wiki.database, wiki.scope, page_id, 0)
    with pytest.raises(Conflict):
        await restore_state(wiki.database, wiki.scope, page_id, 1, expected_version=7)


async def test_an_edit_of_a_long_page_is_stored_as_a_difference(wiki: Wiki) -> None:
    page_id = await create(wiki, "".join(f"Line {n} of a long page.\n" for n in range(5_000)))
    await edit_page(wiki.database, wiki.scope, PageAddress(page_id), old_text="Line 2500 ", new_text="Row 2500 ")
    row = (await wiki.rows("revisions", "version"))[-1]
    assert (row["base_version"], row["base_texts"], row["body_md"]) == (1, ["Row", ""], "")
