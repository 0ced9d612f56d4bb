"""The index of passages stays in step with the sources."""

from resolvers.search.lexemes import PASSAGES
from resolvers.search.passages import reindex_passages
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft, forget_source
from tests.wiki import Wiki

TALK = "Mara: The kiln broke.\nJon: We need a new kiln.\n"


async def retain(wiki: Wiki, *drafts: SourceDraft) -> None:
    await retain_sources(wiki.database, wiki.scope, drafts)


async def texts(wiki: Wiki, **where: object) -> list[str]:
    return [row["text"] for row in await wiki.rows("search_passages", "captured_at, source_id, position", **where)]


async def test_a_retained_source_is_indexed_by_its_passages(wiki: Wiki) -> None:
    await retain(wiki, SourceDraft("daily_note", "a", TALK, metadata={"language": "german"}))
    rows = await wiki.rows("search_passages", "position")
    assert [(row["text"], row["speaker"], row["line_start"], row["words"]) for row in rows] == [
        ("Mara: The kiln broke.", "Mara", 1, 3),
        ("Jon: We need a new kiln.", "Jon", 2, 5),
    ]
    assert (await wiki.counts("search_passages"))["kiln"] == 2
    (index,) = [row for row in await wiki.rows("search_scopes", "1") if row["analyser"] >= PASSAGES]
    assert (index["state"], index["pages"], index["languages"]) == ("ready", 2, ["german"])


async def test_a_newer_version_supersedes_the_passages(wiki: Wiki) -> None:
    await retain(wiki, SourceDraft("url", "u", "One."), SourceDraft("url", "u", "Two."))
    await retain(wiki, SourceDraft("url", "u", "Three."))
    assert await texts(wiki, status="current") == ["Three."]
    assert await texts(wiki, status="superseded") == ["One.", "Two."]


async def test_a_forgotten_source_leaves_no_passage_and_no_counted_word(wiki: Wiki) -> None:
    await retain(wiki, SourceDraft("url", "u", "Zanzibar."), SourceDraft("url", "other", "Kilns."))
    source_id = (await wiki.row("sources", ref="u"))["id"]
    await forget_source(wiki.database, wiki.scope, source_id)
    assert await texts(wiki) == ["Kilns."]
    assert +(await wiki.counts("search_passages")) == {"kiln": 1}


async def test_reindexing_reads_sources_of_an_older_release(wiki: Wiki) -> None:
    await retain(wiki, *(SourceDraft("url", f"u{n}", f"Text {n}.") for n in range(5)))
    await retain(wiki, SourceDraft("url", "u1", "Newer."))
    for table in ("search_passages", "search_changes", "search_counts", "search_vocabulary", "search_scopes"):
        await wiki.connection.execute(f"DELETE FROM {table} WHERE tenant_id = $1", wiki.scope.tenant_id)
    await retain(wiki, SourceDraft("url", "u9", "Written meanwhile."))
    assert await texts(wiki) == ["Written meanwhile."]
    assert await reindex_passages(wiki.database, wiki.scope) == 6
    assert len(await texts(wiki)) == 7
    assert await texts(wiki, status="superseded") == ["Text 1."]
    assert await reindex_passages(wiki.database, wiki.scope) == 0
    assert await reindex_passages(wiki.database, wiki.scope) == 0


async def test_the_index_is_ready_after_its_unindexed_sources_were_forgotten(wiki: Wiki) -> None:
    await retain(wiki, SourceDraft("url", "u", "Before."))
    for table in ("search_passages", "search_changes", "search_counts", "search_vocabulary", "search_scopes"):
        await wiki.connection.execute(f"DELETE FROM {table} WHERE tenant_id = $1", wiki.scope.tenant_id)
    await retain(wiki, SourceDraft("url", "v", "Meanwhile."))
    for source in await wiki.rows("sources"):
        await forget_source(wiki.database, wiki.scope, source["id"])
    assert await reindex_passages(wiki.database, wiki.scope) == 0
    await retain(wiki, SourceDraft("url", "w", "After."))
    (index,) = [row for row in await wiki.rows("search_scopes", "1") if row["analyser"] >= PASSAGES]
    assert (index["state"], await texts(wiki)) == ("ready", ["After."])
