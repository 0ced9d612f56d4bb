"""Mentions: names seen in sources that have no page yet."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from db.ids import new_id
from db.scope import Role
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, delete_page
from resolvers.sources.mentions import ignore_mention, record_mention
from resolvers.sources.sources import SourceDraft, add_source
from tests.wiki import Wiki

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


async def sources(wiki: Wiki, count: int) -> list:
    """Add sources captured on successive days, and return their ids, the oldest first."""
    drafts = [SourceDraft("document", f"d{n}", "Text.", captured_at=NOON + timedelta(days=n)) for n in range(count)]
    return [(await add_source(wiki.database, wiki.scope, draft)).source_id for draft in drafts]


async def test_each_source_counts_once_however_a_name_is_spelt(wiki: Wiki) -> None:
    ids = await sources(wiki, 2)
    for name, source_id in (("Chef João", ids[0]), ("chef joao!", ids[0]), ("CHEF JOAO", ids[1])):
        seen = await record_mention(wiki.database, wiki.scope, name=name, source_id=source_id)
    mention = await wiki.row("mentions")
    assert (mention["name"], mention["alias"], mention["mention_count"]) == ("Chef João", "chef joao", 2)
    assert (seen.mention_id, seen.status, seen.count) == (mention["id"], "open", 2)
    assert (await wiki.actions()).count("mention.recorded") == 2


async def version(wiki: Wiki, number: int) -> UUID:
    """Add the next version of one note, captured a day later."""
    draft = SourceDraft("daily_note", "note", f"Version {number}.", captured_at=NOON + timedelta(days=number))
    return (await add_source(wiki.database, wiki.scope, draft)).source_id


async def test_versions_of_one_note_count_as_one_source(wiki: Wiki) -> None:
    ids = [await version(wiki, number) for number in range(3)]
    seen = [
        await record_mention(wiki.database, wiki.scope, name="João", source_id=ids[n], quote=f"quote {n}")
        for n in (0, 1, 2, 1, 2)
    ]
    mention = await wiki.row("mentions")
    assert ([sighting.count for sighting in seen], mention["mention_count"]) == ([1] * 5, 1)
    assert [sighting.changed for sighting in seen] == [True, True, True, False, False]
    assert [context["quote"] for context in mention["contexts"]] == ["quote 2"]
    assert mention["last_seen_at"] == NOON + timedelta(days=2)
    assert [row["source_id"] for row in await wiki.rows("sightings", "seen_at")] == [ids[2]]


async def test_the_same_ref_of_another_kind_counts_as_another_source(wiki: Wiki) -> None:
    for kind in ("daily_note", "document"):
        source = await add_source(wiki.database, wiki.scope, SourceDraft(kind, "ref", "Text."))
        seen = await record_mention(wiki.database, wiki.scope, name="João", source_id=source.source_id)
    assert seen.count == 2


async def test_the_five_newest_quotes_are_kept_in_any_order_of_recording(wiki: Wiki) -> None:
    ids = await sources(wiki, 7)
    for n in (3, 6, 0, 5, 1, 4, 2):
        await record_mention(wiki.database, wiki.scope, name="João", source_id=ids[n], quote=f"quote {n}")
    mention = await wiki.row("mentions")
    assert [context["quote"] for context in mention["contexts"]] == [f"quote {n}" for n in (6, 5, 4, 3, 2)]
    assert mention["contexts"][0] == {"quote": "quote 6", "sourceId": str(ids[6]), "at": "2026-11-27T12:00:00+00:00"}
    assert (mention["first_seen_at"], mention["last_seen_at"]) == (NOON, NOON + timedelta(days=6))


async def test_a_suggested_type_stays_until_another_is_suggested(wiki: Wiki) -> None:
    for source_id, type in zip(await sources(wiki, 3), ("entity", None, "topic"), strict=True):
        await record_mention(wiki.database, wiki.scope, name="João", source_id=source_id, suggested_type=type)
    assert (await wiki.row("mentions"))["suggested_type"] == "topic"


async def test_an_ignored_mention_stays_ignored(wiki: Wiki) -> None:
    first, second = await sources(wiki, 2)
    seen = await record_mention(wiki.database, wiki.scope, name="João", source_id=first)
    assert (await ignore_mention(wiki.database, wiki.scope, seen.mention_id)).changed
    assert not (await ignore_mention(wiki.database, wiki.scope, seen.mention_id)).changed
    again = await record_mention(wiki.database, wiki.scope, name="João", source_id=second)
    assert (again.mention_id, again.status, again.count) == (seen.mention_id, "ignored", 2)


async def test_a_promoted_name_stays_promoted_while_its_page_exists(wiki: Wiki) -> None:
    ids = await sources(wiki, 3)
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", "João"))
    seen = await record_mention(wiki.database, wiki.scope, name="João", source_id=ids[0])
    promote = "UPDATE mentions SET status = 'promoted', promoted_page_id = $1 WHERE id = $2"
    await wiki.connection.execute(promote, page.page_id, seen.mention_id)
    again = await record_mention(wiki.database, wiki.scope, name="João", source_id=ids[1])
    assert (again.mention_id, again.status) == (seen.mention_id, "promoted")
    with pytest.raises(BadInput):
        await ignore_mention(wiki.database, wiki.scope, seen.mention_id)
    await delete_page(wiki.database, wiki.scope, page.page_id)
    anew = await record_mention(wiki.database, wiki.scope, name="João", source_id=ids[2])
    assert (anew.status, anew.count) == ("open", 1)
    assert (await wiki.row("mentions", id=seen.mention_id))["status"] == "promoted"


async def test_concurrent_sightings_are_all_counted(wiki: Wiki) -> None:
    ids = await sources(wiki, 32)
    sightings = [record_mention(wiki.database, wiki.scope, name="João", source_id=source_id) for source_id in ids * 2]
    await asyncio.gather(*sightings)
    assert (await wiki.row("mentions"))["mention_count"] == 32


async def test_concurrent_sightings_in_versions_of_one_source_count_once(wiki: Wiki) -> None:
    ids = [await version(wiki, number) for number in range(8)]
    await asyncio.gather(*(record_mention(wiki.database, wiki.scope, name="João", source_id=id) for id in ids * 2))
    assert (await wiki.row("mentions"))["mention_count"] == len(await wiki.rows("sightings", "seen_at")) == 1


@pytest.mark.parametrize(
    ("argument", "value", "field"),
    [("name", "?!", "name"), ("quote", "a\0", "quote"), ("suggested_type", "person", "suggestedType")],
)
async def test_bad_input_names_the_argument(wiki: Wiki, argument: str, value: str, field: str) -> None:
    (source_id,) = await sources(wiki, 1)
    with pytest.raises(BadInput) as refused:
        await record_mention(wiki.database, wiki.scope, **{"name": "João", "source_id": source_id, argument: value})
    assert refused.value.field == field
    assert await wiki.rows("mentions") == []


async def test_a_source_or_mention_of_another_wiki_is_unknown(wiki: Wiki) -> None:
    stranger = (await wiki.neighbour()).with_role(Role.MEMBER)
    (source_id,) = await sources(wiki, 1)
    seen = await record_mention(wiki.database, wiki.scope, name="João", source_id=source_id)
    with pytest.raises(NotFound):
        await record_mention(stranger.database, stranger.scope, name="João", source_id=source_id)
    for mention_id in (seen.mention_id, new_id()):
        with pytest.raises(NotFound, match="no such mention"):
            await ignore_mention(stranger.database, stranger.scope, mention_id)
