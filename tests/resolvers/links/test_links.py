"""References between pages: those in texts, and those that callers assert."""

import pytest

from db.ids import new_id
from db.scope import Role
from resolvers.errors import BadInput, NotFound
from resolvers.links.links import link_pages, unlink_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.sections import patch_section
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic"):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body))).page_id


async def test_a_broken_link_resolves_when_its_page_is_created(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "To [[Austin|the capital]], [x](wiki:austin#food) and [[Nowhere]].")
    assert await wiki.targets(reader) == {"austin": None, "nowhere": None}
    austin = await create(wiki, "Austin")
    assert await wiki.targets(reader) == {"austin": austin, "nowhere": None}
    assert await wiki.references() == {(reader, austin): {"text"}}
    assert (await wiki.page(austin))["hubness_score"] == 1


async def test_a_link_is_deleted_with_its_text(wiki: Wiki) -> None:
    austin = await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "[[Austin]]")
    await patch_section(wiki.database, wiki.scope, reader, section_slug="overview", body="Nothing.")
    assert (await wiki.targets(reader), await wiki.references()) == ({}, {})
    assert (await wiki.page(austin))["hubness_score"] == 0


async def test_a_page_may_mention_itself_without_a_link(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin", "[[Austin]] is nice.")
    assert await wiki.targets(page_id) == {"austin": page_id}
    assert await wiki.references() == {}


async def test_a_link_with_a_type_resolves_only_to_pages_of_that_type(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "[x](/wiki/entity/austin)")
    await create(wiki, "Austin")
    assert await wiki.targets(reader) == {"entity/austin": None}
    austin = await create(wiki, "Austin", type="entity")
    assert await wiki.targets(reader) == {"entity/austin": austin}


async def test_a_link_to_another_space_is_not_resolved_in_this_wiki(wiki: Wiki) -> None:
    await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "[[travel:austin]]")
    assert await wiki.targets(reader) == {"travel:austin": None}


async def test_a_link_prefers_a_slug_to_a_former_slug_to_an_alias(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "[[atx]]")
    by_alias = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", aliases=["atx"]))).page_id
    assert await wiki.targets(reader) == {"atx": by_alias}
    by_former_slug = await create(wiki, "B")
    await update_page(wiki.database, wiki.scope, by_former_slug, slug="atx")
    await update_page(wiki.database, wiki.scope, by_former_slug, slug="b")
    assert await wiki.targets(reader) == {"atx": by_former_slug}
    by_slug = await create(wiki, "ATX", type="entity")
    assert await wiki.targets(reader) == {"atx": by_slug}
    await archive_page(wiki.database, wiki.scope, by_slug)
    assert await wiki.targets(reader) == {"atx": by_former_slug}
    await unarchive_page(wiki.database, wiki.scope, by_slug)
    assert await wiki.references() == {(reader, by_slug): {"text"}}


async def test_a_link_exists_until_its_last_reason_is_removed(wiki: Wiki) -> None:
    austin = await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "[[Austin]]")
    for reason in ("planner", "co_mention:7", "planner"):
        saved = await link_pages(wiki.database, wiki.scope, reader, austin, reason=reason)
    assert (saved.changed, saved.reasons) == (False, ("text", "planner", "co_mention:7"))
    saved = await unlink_pages(wiki.database, wiki.scope, reader, austin, reason="planner")
    assert (saved.changed, saved.reasons) == (True, ("text", "co_mention:7"))
    await update_page(wiki.database, wiki.scope, reader, body="")
    assert await wiki.references() == {(reader, austin): {"co_mention:7"}}
    saved = await unlink_pages(wiki.database, wiki.scope, reader, austin)
    assert (saved.changed, saved.reasons, await wiki.references()) == (True, (), {})
    assert not (await unlink_pages(wiki.database, wiki.scope, reader, austin)).changed
    assert (await wiki.actions())[2:] == ["link.added", "link.added", "link.removed", "page.updated", "link.removed"]


@pytest.mark.parametrize(
    ("before", "reason", "after"),
    [
        ({"manual"}, None, set()),
        ({"manual"}, "manual", set()),
        ({"manual"}, "planner", {"manual"}),
        ({"manual", "planner"}, None, set()),
        ({"manual", "planner"}, "planner", {"manual"}),
        ({"text"}, None, {"text"}),
        ({"text"}, "manual", {"text"}),
        ({"text", "manual"}, None, {"text"}),
        ({"text", "manual", "planner"}, "manual", {"text", "planner"}),
        (set(), None, set()),
    ],
)
async def test_unlinking_removes_and_logs_only_the_reasons_that_are_given(
    wiki: Wiki, before: set[str], reason: str | None, after: set[str]
) -> None:
    austin = await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "[[Austin]]" if "text" in before else "")
    for added in sorted(before - {"text"}):
        await link_pages(wiki.database, wiki.scope, reader, austin, reason=added)
    saved = await unlink_pages(wiki.database, wiki.scope, reader, austin, reason=reason)
    assert (set(saved.reasons), saved.changed) == (after, before != after)
    assert await wiki.references() == ({(reader, austin): after} if after else {})
    assert (await wiki.page(austin))["hubness_score"] == bool(after)
    logged = [row["detail"]["reasons"] for row in await wiki.rows("activity", action="link.removed")]
    assert [sorted(removed) for removed in logged] == ([sorted(before - after)] if before != after else [])


async def test_unlinking_keeps_the_link_that_the_text_contains(wiki: Wiki) -> None:
    austin = await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "[[Austin]]")
    await link_pages(wiki.database, wiki.scope, reader, austin)
    await unlink_pages(wiki.database, wiki.scope, reader, austin)
    assert await wiki.references() == {(reader, austin): {"text"}}


@pytest.mark.parametrize(
    ("options", "field", "hint"),
    [
        ({"kind": "parent_of"}, "kind", "setWikiParent"),
        ({"kind": "child_of"}, "kind", "setWikiParent"),
        ({"kind": "friend"}, "kind", "reference"),
        ({"reason": "text"}, "reason", "Edit the text"),
        ({"reason": " "}, "reason", "empty"),
    ],
)
async def test_a_link_that_another_operation_writes_is_refused(wiki: Wiki, options, field, hint) -> None:
    pages = await create(wiki, "A"), await create(wiki, "B")
    for write in (link_pages, unlink_pages):
        with pytest.raises(BadInput, match=hint) as refused:
            await write(wiki.database, wiki.scope, *pages, **options)
        assert refused.value.field == field


async def test_a_link_requires_two_pages_of_one_wiki(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    own, foreign = await create(wiki, "A"), await create(other, "B")
    for page_id, refusal in ((own, BadInput), (foreign, BadInput), (new_id(), NotFound)):
        with pytest.raises(refusal):
            await link_pages(wiki.database, wiki.scope, own, page_id)
    member = wiki.with_role(Role.MEMBER)
    with pytest.raises(NotFound):
        await link_pages(member.database, member.scope, own, foreign)
