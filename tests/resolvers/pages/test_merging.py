"""Merging two pages: everything of the merged page moves to the other, and its names resolve there."""

from importlib import import_module

import pytest

from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.merging import merge_many, merge_pages
from resolvers.pages.upsert import upsert_page
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import cite_source
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic", **more: object):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body, **more))).page_id


async def merge(wiki: Wiki, gone, into, **more: object):
    return await merge_pages(wiki.database, wiki.scope, gone, into, **more)


async def test_sections_with_the_same_heading_are_joined(wiki: Wiki) -> None:
    into = await create(
        wiki, "Austin", "Lead.\n\n## Food\n\nTacos.\n\n## Bats\n\nMany.", summary="A city.", tags=["us"]
    )
    gone = await create(wiki, "ATX", "More.\n\n## Food\n\nBrisket.\n\n## Music\n\nLoud.", summary="No.", tags=["tx"])
    saved = await merge(wiki, gone, into)
    page = await wiki.page(into)
    assert page["body_md"] == (
        "Lead.\n\nMore.\n\n## Food\n\nTacos.\n\nBrisket.\n\n## Bats\n\nMany.\n\n## Music\n\nLoud."
    )
    assert (page["summary"], page["tags"], saved.version) == ("A city.", ["us", "tx"], 2)
    assert (await wiki.rows("revisions", "version", page_id=into))[-1]["edit_summary"] == "Merged with ATX"


async def test_sections_of_different_sensitivity_are_not_joined(wiki: Wiki) -> None:
    into = await create(wiki, "Austin", "## Pay\n\nMonthly.\n\n## Rent {sensitivity=confidential}\n\nHigh.")
    gone = await create(wiki, "ATX", "## Pay {sensitivity=secret}\n\nMuch.\n\n## Rent {sensitivity=secret}\n\nHigher.")
    await merge(wiki, gone, into)
    assert (await wiki.page(into))["body_md"] == (
        "## Pay\n\nMonthly.\n\n## Rent {sensitivity=confidential}\n\nHigh.\n\n"
        "## Pay {sensitivity=secret}\n\nMuch.\n\n## Rent {sensitivity=secret}\n\nHigher."
    )


async def test_the_history_of_a_page_merged_into_a_secret_page_does_not_name_that_page(wiki: Wiki) -> None:
    into, gone = await create(wiki, "Layoffs", fields={"sensitivity": "secret"}), await create(wiki, "Plan")
    await merge(wiki, gone, into)
    assert (await wiki.rows("revisions", "version", page_id=gone))[-1]["edit_summary"] == "Merged into another page"


async def test_text_that_both_pages_have_is_kept_once(wiki: Wiki) -> None:
    into = await create(wiki, "Austin", "## Food\n\nTacos.\n\nBrisket.")
    gone = await create(wiki, "ATX", "Lead.\n\n## Food\n\nBrisket.")
    await merge(wiki, gone, into)
    assert (await wiki.page(into))["body_md"] == "Lead.\n\n## Food\n\nTacos.\n\nBrisket."


async def test_a_merged_page_is_archived_and_its_names_resolve_to_the_other(wiki: Wiki) -> None:
    into, gone = await create(wiki, "Austin"), await create(wiki, "Old Austin", "Text.", aliases=["ATX"])
    await update_page(wiki.database, wiki.scope, gone, slug="older")
    linking = await create(wiki, "Linking", "[[Old Austin]] [[ATX]] [x](wiki:old-austin) [y](/wiki/topic/older)")
    await merge(wiki, gone, into)
    merged = await wiki.page(gone)
    assert (merged["status"], merged["slug"], merged["body_md"]) == ("archived", "older-merged", "Text.")
    assert [row["version"] for row in await wiki.rows("revisions", "version", page_id=gone)] == [1, 2, 3]
    assert set((await wiki.targets(linking)).values()) == {into}
    assert {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")} == {
        "old-austin": into,
        "older": into,
    }
    with pytest.raises(Conflict) as refused:
        await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "Old Austin", slug="older", summary="Here."))
    assert refused.value.page_id == into


@pytest.mark.parametrize(
    ("content", "is_recorded"),
    [("Osprey Components is now called Osprey Gridworks.", True), ("Osprey Components met Osprey Gridworks.", False)],
)
async def test_a_rename_stated_by_a_source_is_recorded_as_a_superseded_claim(
    wiki: Wiki, content: str, is_recorded: bool
) -> None:
    into = await create(wiki, "Osprey Gridworks", "## Overview\n\nGrids.", "entity")
    gone = await create(wiki, "Osprey Components", "## Overview\n\nValves.", "entity")
    source_id = await wiki.add_source(content=f"{content}\n")
    await cite_source(wiki.database, wiki.scope, page_id=gone, section_slug="overview", source_id=source_id)
    await merge(wiki, gone, into)
    claims = await wiki.rows("superseded_claims")
    recorded = [(claim["page_id"], claim["fact"], claim["replacement"], claim["overridden_by_id"]) for claim in claims]
    assert recorded == ([(into, "Osprey Components", "Osprey Gridworks", source_id)] if is_recorded else [])
    assert ((await wiki.actions()).count("claim.superseded") == 1) is is_recorded
    source = await wiki.row("sources")
    assert all(claim["superseded_on"] == source["captured_at"] for claim in claims)


async def test_redirects_of_repeated_merges_lead_directly_to_the_last_page(wiki: Wiki) -> None:
    a, b, c = [await create(wiki, title) for title in ("A", "B", "C")]
    await merge(wiki, a, b)
    await merge(wiki, b, c)
    found = {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")}
    assert (found["a"], found["b"]) == (c, c)
    back = await create(wiki, "A", slug="a-again")
    await merge(wiki, c, back)
    found = {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")}
    assert {found[slug] for slug in ("a", "b", "c")} == {back}


async def test_links_by_a_slug_shared_with_another_type_follow_the_merge(wiki: Wiki) -> None:
    """The slug redirects to the other page, but without a type it would resolve to the entity first."""
    gone = await create(wiki, "ATX", "I am [[atx]].")
    await create(wiki, "ATX", type="entity")
    into = await create(wiki, "Austin", "Once [[atx]].")
    linking = await create(wiki, "Linking", "[[ATX|x]] [y](wiki:atx) [z](/wiki/topic/atx)")
    saved = await merge(wiki, gone, into)
    page = await wiki.page(linking)
    assert page["body_md"] == "[[Austin|x]] [y](wiki:austin) [z](/wiki/topic/austin)"
    assert set((await wiki.targets(linking)).values()) == {into}
    assert (await wiki.rows("revisions", "version", page_id=linking))[-1][
        "edit_summary"
    ] == "Renamed link: ATX → Austin"
    page = await wiki.page(into)
    assert (page["body_md"], page["version"]) == ("Once [[austin]].\n\nI am [[austin]].", saved.version)


async def test_pages_of_two_types_merge_and_both_addresses_resolve(wiki: Wiki) -> None:
    """The type of the page that stays is kept, and links that name the other type are left as they are written."""
    gone = await create(wiki, "ATX", "I am here.\n\n## Notes\n\nOf the topic.")
    into = await create(wiki, "Austin", "A city.\n\n## Notes\n\nOf the entity.", type="entity")
    other = await create(wiki, "ATX", "A code.", type="decision")
    body = "[[ATX|x]] [y](/wiki/topic/atx) [z](/wiki/entity/austin) [c](/wiki/decision/atx)"
    linking = await create(wiki, "Linking", body)
    await merge(wiki, gone, into)
    page = await wiki.page(into)
    assert (page["type"], page["body_md"]) == (
        "entity", "A city.\n\nI am here.\n\n## Notes\n\nOf the entity.\n\nOf the topic."
    )  # fmt: skip
    targets = await wiki.targets(linking)
    assert (targets["topic/atx"], targets["entity/austin"], targets["decision/atx"]) == (into, into, other)
    assert "[y](/wiki/topic/atx)" in (await wiki.page(linking))["body_md"]
    again = await create(wiki, "ATX", "Once more.")
    assert (await wiki.page(again))["slug"] == "atx-2"
    assert [(row["type"], row["slug"], row["page_id"]) for row in await wiki.rows("old_slugs", "slug")] == [
        ("topic", "atx", into)
    ]


async def test_a_merge_moves_citations_with_their_sections(wiki: Wiki) -> None:
    into, gone = (
        await create(wiki, "Austin", "## Food\n\nTacos."),
        await create(wiki, "ATX", "## Food\n\nRibs.\n\n## Pop\n\nMany."),
    )
    first, second = await wiki.add_source(ref="one"), await wiki.add_source(ref="two")
    for page, section, source in (
        (into, "food", first),
        (gone, "food", first),
        (gone, "food", second),
        (gone, "pop", second),
    ):
        await cite_source(wiki.database, wiki.scope, page_id=page, section_slug=section, source_id=source)
    await merge(wiki, gone, into)
    slugs = {row["id"]: row["section_slug"] for row in await wiki.rows("sections", page_id=into)}
    cited = {(slugs[row["section_id"]], row["source_id"]) for row in await wiki.rows("section_sources", page_id=into)}
    assert cited == {("food", first), ("food", second), ("pop", second)}
    assert all(row["last_source_at"] for row in await wiki.rows("sections", page_id=into))


async def test_a_merge_moves_children_references_and_mentions(wiki: Wiki) -> None:
    into, gone, friend, child = [await create(wiki, title) for title in ("Austin", "ATX", "Friend", "Child")]
    await set_parent(wiki.database, wiki.scope, child, parent_id=gone)
    for pair in ((friend, gone), (gone, friend), (into, gone)):
        await link_pages(wiki.database, wiki.scope, *pair, reason="planner")
    mention = (
        await record_mention(wiki.database, wiki.scope, name="Atx town", source_id=await wiki.add_source())
    ).mention_id
    await wiki.connection.execute(
        "UPDATE mentions SET promoted_page_id = $1, status = 'promoted' WHERE id = $2", gone, mention
    )
    section = f'{{"linked_page_ids": ["{gone}"]}}'
    await wiki.connection.execute(
        "UPDATE sections SET aggregation = $1, promoted_page_id = $2 WHERE page_id = $3", section, gone, friend
    )
    await merge(wiki, gone, into)
    assert (await wiki.page(child))["parent_page_id"] == into
    references = await wiki.references()
    assert references[(friend, into)] == references[(into, friend)] == {"planner"}
    assert (friend, gone) not in references
    assert (await wiki.row("mentions", id=mention))["promoted_page_id"] == into
    for row in await wiki.rows("sections", page_id=friend):
        assert (row["promoted_page_id"], row["aggregation"]) == (into, {"linked_page_ids": [str(into)]})


async def test_a_merge_into_a_descendant_moves_the_descendant_up(wiki: Wiki) -> None:
    top, gone, between, into = [await create(wiki, title) for title in ("Top", "Gone", "Between", "Into")]
    for child, parent in ((gone, top), (between, gone), (into, between)):
        await set_parent(wiki.database, wiki.scope, child, parent_id=parent)
    await merge(wiki, gone, into)
    assert (await wiki.page(into))["parent_page_id"] == top
    assert (await wiki.page(between))["parent_page_id"] == into


async def test_a_merged_page_can_be_unarchived_as_its_own_page(wiki: Wiki) -> None:
    into, gone = await create(wiki, "Austin"), await create(wiki, "ATX", "Text.")
    await merge(wiki, gone, into)
    await unarchive_page(wiki.database, wiki.scope, gone)
    assert (await wiki.page(gone))["slug"] == "atx-merged"


async def test_the_migration_marks_merged_pages_that_were_unarchived(wiki: Wiki) -> None:
    into, gone, back, edited = [await create(wiki, title) for title in ("Austin", "ATX", "Texas", "Travis")]
    for page_id in (gone, back):
        await merge(wiki, page_id, into)
    await unarchive_page(wiki.database, wiki.scope, back)
    await update_page(wiki.database, wiki.scope, edited, body="New.", edit_summary="Merged into one text")
    expected = {row["id"]: row["was_merged"] for row in await wiki.rows("pages")}
    assert expected == {into: False, gone: False, back: True, edited: False}
    await wiki.connection.execute("UPDATE pages SET was_merged = false")
    await wiki.connection.execute(import_module("migrations.versions.2026_11_28_0172_unmerged_pages").BROUGHT_BACK)
    assert {row["id"]: row["was_merged"] for row in await wiki.rows("pages")} == expected


async def test_merged_pages_record_their_final_target(wiki: Wiki) -> None:
    c, b, a = [await create(wiki, title) for title in ("C", "B", "A")]
    await merge(wiki, a, b)
    await merge(wiki, b, c)
    rows = {row["page_id"]: row["into_page_id"] for row in await wiki.rows("merged_pages", "page_id")}
    assert rows == {a: c, b: c}
    await unarchive_page(wiki.database, wiki.scope, a)
    assert [row["page_id"] for row in await wiki.rows("merged_pages", "page_id")] == [b]
    await merge(wiki, c, a)
    rows = {row["page_id"]: row["into_page_id"] for row in await wiki.rows("merged_pages", "page_id")}
    assert rows == {b: a, c: a}


async def test_merging_many_pages_has_the_result_of_single_merges(wiki: Wiki) -> None:
    into, *gone = [await create(wiki, title, f"{title} text.") for title in ("Into", "One", "Two", "Three")]
    saved = await merge_many(wiki.database, wiki.scope, [*gone, gone[0]], into, expected_version=1)
    page = await wiki.page(into)
    assert (saved.version, page["version"]) == (4, 4)
    assert page["body_md"] == "Into text.\n\nOne text.\n\nTwo text.\n\nThree text."
    assert {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")} == dict.fromkeys(
        ("one", "two", "three"), into
    )
    again = await merge_many(wiki.database, wiki.scope, gone, into, expected_version=1)
    assert again.changed is False


async def test_merging_many_pages_is_refused_whole_when_an_id_is_invalid(wiki: Wiki) -> None:
    into, page_id = await create(wiki, "Into"), await create(wiki, "One")
    for ids, field in (([page_id, into], "fromPageIds.1"), ([], "fromPageIds")):
        with pytest.raises(BadInput) as refused:
            await merge_many(wiki.database, wiki.scope, ids, into)
        assert refused.value.field == field
    assert "page.merged" not in await wiki.actions()


async def test_repeating_a_merge_changes_nothing(wiki: Wiki) -> None:
    into, gone = await create(wiki, "Austin"), await create(wiki, "ATX")
    await merge(wiki, gone, into)
    before = [await wiki.page(page) for page in (into, gone)]
    assert (await merge(wiki, gone, into)).changed is False
    assert [await wiki.page(page) for page in (into, gone)] == before


async def test_an_invalid_merge_is_refused_and_writes_nothing(wiki: Wiki) -> None:
    into, gone = await create(wiki, "Austin"), await create(wiki, "ATX")
    other = await (await wiki.neighbour()).add_source()
    for pair, error in (((into, into), BadInput), ((gone, other), NotFound)):
        with pytest.raises(error):
            await merge(wiki, *pair)
    for versions in ({"expected_version": 9}, {"from_expected_version": 9}):
        with pytest.raises(Conflict):
            await merge(wiki, gone, into, **versions)
    await archive_page(wiki.database, wiki.scope, into)
    with pytest.raises(BadInput, match="archived"):
        await merge(wiki, gone, into)
    assert "page.merged" not in await wiki.actions()
