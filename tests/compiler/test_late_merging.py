"""Later sources can merge two pages of one thing; if a person edited a page, the merge is proposed."""

import random
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import orjson
import pytest

from compiler.compiler import CAPS, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.planner import Citations, PageMerge
from compiler.read.evidence import StoredKnowledge
from compiler.write.merging import propose_merges
from content.names import normalise
from resolvers.import_export.export_files import export_path
from resolvers.import_export.importing import import_path
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, unarchive_page, update_page
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.proposals.proposals import accept_proposal, decline_proposal
from resolvers.sources.compile_requests import reset_cursor
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.compiler.killed.test_crashes import die_at_every_statement
from tests.compiler.scripted_compiler import citations, compile_all, pages_by_title
from tests.recording_database import recording_database
from tests.wiki import Wiki, close_wiki, open_wiki

START = datetime(2026, 1, 10, 9, tzinfo=UTC)
LONG = (
    "Rewrote the parser in JavaScript over the weekend.",
    "Bo prefers JavaScript for the small tools.",
    "The build of the JavaScript tools takes a minute.",
)
SHORT = (
    "Ana wants to learn JS this year.",
    "Our JS bundle is too large again.",
    "Removed the last JS from the login page.",
)
BOTH = "We read about JavaScript (JS) and its history."
PUBLISH = (
    "Acme Publish is a paid service for sites.",
    "Set a password in Acme Publish. Then Acme Publish shows the notes.",
    "With Acme Publish a site takes a minute.",
    "Everyone likes Acme Publish so far.",
)
BARE = (
    "The dialog of Publish lists what changed.",
    "We moved the old blog to Publish at last.",
    "The quota of Publish is 4 GB.",
)
BESIDE = (
    "The Acme app and Acme Publish have one login. A licence of Publish is needed for both. See the Acme app.",
    "The contract for Acme Publish ends in May. The price of Publish stays. Look at the Acme page.",
    "A guide to the Acme server and to Acme Publish. The pages of Publish are static. It is an Acme guide.",
)


def rules(batch: int = CAPS.batch) -> Compiler:
    return Compiler(ExtractivePlanner(), ExtractiveWriter(), CAPS._replace(batch=batch))


async def retain_texts(wiki: Wiki, *texts: str, start: int = 0) -> None:
    drafts = [
        SourceDraft("daily_note", f"day-{n}", text, captured_at=START + timedelta(days=n))
        for n, text in enumerate(texts, start)
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)


async def two_pages(wiki: Wiki) -> None:
    await retain_texts(wiki, *LONG, *SHORT)
    await compile_all(wiki, rules())
    assert set(await pages_by_title(wiki)) == {"JS", "JavaScript"}


async def active(wiki: Wiki) -> set[str]:
    return {title for title, row in (await pages_by_title(wiki)).items() if row["status"] == "active"}


@pytest.mark.parametrize("texts", [(*LONG, *SHORT, BOTH), (*PUBLISH, *BARE, *BESIDE)])
async def test_compiling_one_by_one_gives_the_pages_of_one_batch(dsn: str, wiki: Wiki, texts: Sequence[str]) -> None:
    at_once = await open_wiki(dsn)
    try:
        await retain_texts(at_once, *texts)
        await compile_all(at_once, rules())
        expected = await active(at_once)
    finally:
        await close_wiki(at_once)
    await retain_texts(wiki, *texts)
    await compile_all(wiki, rules(batch=1))
    assert await active(wiki) == expected
    assert not {"JS", "Publish"} & expected


async def test_a_merge_keeps_text_citations_aliases_and_history_of_both_pages(wiki: Wiki) -> None:
    await two_pages(wiki)
    before = {(section, ref) for _, section, ref in await citations(wiki)}
    await retain_texts(wiki, BOTH, start=9)
    jobs = await compile_all(wiki, rules())
    found = await pages_by_title(wiki)
    into, merged = found["JavaScript"], found["JS"]
    assert (into["status"], merged["status"], merged["slug"]) == ("active", "archived", "js-merged")
    for text in (*LONG, *SHORT):
        assert into["body_md"].count(text) >= 1, text
    notes = into["body_md"].partition("## Notes")[2]
    days = [line[2:12] for line in notes.splitlines() if line.startswith("- 2026")]
    assert days == sorted(days, reverse=True), "the lines of both are one timeline"
    assert {(section, ref) for title, section, ref in await citations(wiki) if title == "JavaScript"} >= before
    assert {row["alias"] for row in await wiki.rows("aliases", page_id=into["id"])} >= {"js", "javascript"}
    assert {row["slug"]: row["page_id"] for row in await wiki.rows("old_slugs", "slug")} == {"js": into["id"]}
    assert [row["edit_summary"] for row in await wiki.rows("revisions", "version", page_id=merged["id"])][-1] == (
        "Merged into JavaScript"
    )
    assert jobs[-1]["metrics"]["pages_merged"] + jobs[-2]["metrics"].get("pages_merged", 0) == 1
    assert await wiki.rows("proposals") == []


async def test_merged_pages_stay_merged_if_sources_are_read_again(wiki: Wiki) -> None:
    await two_pages(wiki)
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    expected = await pages_by_title(wiki)
    await reset_cursor(wiki.database, wiki.scope)
    await compile_all(wiki, rules(batch=2))
    again = await pages_by_title(wiki)
    assert {title: (row["status"], row["body_md"]) for title, row in again.items()} == {
        title: (row["status"], row["body_md"]) for title, row in expected.items()
    }
    await retain_texts(wiki, "The JS tools and the JavaScript (JS) ones moved.", start=10)
    await compile_all(wiki, rules())
    assert await active(wiki) == {"JavaScript"}


@pytest.mark.parametrize("edited", ["JS", "JavaScript"])
async def test_a_merge_of_a_page_edited_by_a_person_is_proposed_once(wiki: Wiki, edited: str) -> None:
    await two_pages(wiki)
    page = (await pages_by_title(wiki))[edited]
    await update_page(wiki.database, wiki.scope, page["id"], summary="What we use.")
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    assert await active(wiki) == {"JS", "JavaScript"}
    (proposal,) = await wiki.rows("proposals")
    assert (proposal["operation"], proposal["author_kind"], proposal["status"]) == ("merge_pages", "compiler", "open")
    assert proposal["why"] == "JS is JavaScript, as daily_note:day-9 says"
    await retain_texts(wiki, BOTH.replace("history", "future"), start=10)
    await compile_all(wiki, rules())
    assert len(await wiki.rows("proposals")) == 1
    await accept_proposal(wiki.database, wiki.scope, proposal["id"])
    assert await active(wiki) == {"JavaScript"}


async def test_a_declined_merge_is_not_proposed_again(wiki: Wiki) -> None:
    await two_pages(wiki)
    await update_page(wiki.database, wiki.scope, (await pages_by_title(wiki))["JS"]["id"], summary="What we use.")
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    (proposal,) = await wiki.rows("proposals")
    await decline_proposal(wiki.database, wiki.scope, proposal["id"], "two things here")
    await retain_texts(wiki, BOTH.replace("history", "future"), start=10)
    await compile_all(wiki, rules())
    assert [row["status"] for row in await wiki.rows("proposals")] == ["declined"]
    assert await active(wiki) == {"JS", "JavaScript"}


async def test_a_merge_undone_by_a_person_is_not_repeated(wiki: Wiki) -> None:
    await two_pages(wiki)
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    await unarchive_page(wiki.database, wiki.scope, (await pages_by_title(wiki))["JS"]["id"])
    assert await active(wiki) == {"JS", "JavaScript"}
    await retain_texts(wiki, BOTH.replace("history", "future"), start=10)
    await compile_all(wiki, rules())
    assert await active(wiki) == {"JS", "JavaScript"}
    assert await wiki.rows("proposals") == []


async def test_citations_of_all_pairs_of_a_batch_are_read_at_once(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    page_counts: list[int] = []
    citations = StoredKnowledge.citations

    async def counted(knowledge: StoredKnowledge, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        page_counts.append(len(page_ids))
        return await citations(knowledge, page_ids)

    await retain_texts(wiki, *LONG, *SHORT, *PUBLISH, *BARE)
    await compile_all(wiki, rules())
    assert await active(wiki) == {"JS", "JavaScript", "Acme Publish", "Publish"}
    monkeypatch.setattr(StoredKnowledge, "citations", counted)
    await retain_texts(wiki, BOTH, *BESIDE, start=20)
    await compile_all(wiki, rules())
    assert await active(wiki) >= {"JavaScript", "Acme Publish"}
    assert not {"JS", "Publish"} & await active(wiki)
    assert page_counts == [4]


async def test_merge_proposals_of_all_pairs_are_looked_up_at_once(wiki: Wiki, dsn: str) -> None:
    here = wiki.database, wiki.scope
    ids = [(await create_page(*here, PageDraft("topic", f"Topic {n}"))).page_id for n in range(6)]
    merges = [PageMerge(start, end, ()) for start, end in zip(ids[::2], ids[1::2], strict=True)]
    again = [*merges, PageMerge(ids[1], ids[0], ())]
    assert await propose_merges(*here, again, all_of_them=False) == 3
    counts = []
    async with recording_database(dsn) as database:
        for some in (merges[:1], again):
            (await database.sent_statements()).clear()
            assert await propose_merges(database, wiki.scope, some, all_of_them=False) == 0
            counts.append(len(await database.sent_statements()))
    assert counts == [2, 2]


async def test_an_edit_summary_that_looks_like_a_merge_is_ignored(wiki: Wiki) -> None:
    await two_pages(wiki)
    page = (await pages_by_title(wiki))["JS"]
    await update_page(wiki.database, wiki.scope, page["id"], summary="Ours.", edit_summary="Merged into one text")
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    (proposal,) = await wiki.rows("proposals")
    assert (proposal["operation"], proposal["status"]) == ("merge_pages", "open")


async def test_an_unarchived_page_stays_separate_in_an_imported_wiki(wiki: Wiki, tmp_path: Path) -> None:
    await two_pages(wiki)
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    await unarchive_page(wiki.database, wiki.scope, (await pages_by_title(wiki))["JS"]["id"])
    copy = await wiki.neighbour()
    await export_path(wiki.database, wiki.scope, tmp_path / "wiki.jsonl", history=True)
    assert (await import_path(copy.database, copy.scope, tmp_path / "wiki.jsonl")).errors == ()
    await retain_texts(copy, BOTH.replace("history", "future"), start=10)
    await compile_all(copy, rules())
    assert await active(copy) == {"JS", "JavaScript"}


async def test_a_wiki_that_reviews_the_compiler_gets_a_merge_proposal(wiki: Wiki) -> None:
    await two_pages(wiki)
    stored = checked_rules([PolicyRule(WriterRole.COMPILER, Policy.REVIEW)])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(stored).decode())
    await retain_texts(wiki, BOTH, start=9)
    await compile_all(wiki, rules())
    assert await active(wiki) == {"JS", "JavaScript"}
    assert "merge_pages" in {row["operation"] for row in await wiki.rows("proposals")}


async def test_dying_at_any_statement_leaves_the_same_merged_pages(
    dsn: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = await open_wiki(dsn)
    try:
        await two_pages(calm)
        await retain_texts(calm, BOTH, start=9)
        await compile_all(calm, rules())
        expected = {
            title: (row["status"], row["body_md"], row["version"])
            for title, row in (await pages_by_title(calm)).items()
        }
    finally:
        await close_wiki(calm)
    await two_pages(wiki)
    await retain_texts(wiki, BOTH, start=9)
    assert await die_at_every_statement(dsn, wiki, monkeypatch, 4, rules()) >= 10
    found = {
        title: (row["status"], row["body_md"], row["version"]) for title, row in (await pages_by_title(wiki)).items()
    }
    assert found == expected


async def test_neither_order_nor_batches_change_the_set_of_pages(dsn: str) -> None:
    texts, chance, found = (*LONG, *SHORT, BOTH, *PUBLISH, *BARE, *BESIDE), random.Random(19), []
    for batch in (500, 1, 2, 5):
        fresh = await open_wiki(dsn)
        try:
            await retain_texts(fresh, *(texts if batch == 500 else chance.sample(texts, len(texts))))
            await compile_all(fresh, rules(batch))
            found.append(await names_by_page(fresh))
        finally:
            await close_wiki(fresh)
    for other in found[1:]:
        assert are_same(other, found[0]), found
        assert are_same(found[0], other), found


async def names_by_page(wiki: Wiki) -> list[tuple[str, frozenset[str]]]:
    """Return the title and the names of each page."""
    names, rows = await wiki.rows("aliases"), await wiki.rows("pages", status="active")
    return [
        (row["title"], frozenset(alias["alias"] for alias in names if alias["page_id"] == row["id"])) for row in rows
    ]


def are_same(some: Sequence[tuple[str, frozenset[str]]], others: Sequence[tuple[str, frozenset[str]]]) -> bool:
    """Return whether the title of each page is a name of a different page of the others."""
    found = [[title for title, names in others if normalise(own_title) in names] for own_title, _ in some]
    return all(len(titles) == 1 for titles in found) and len({titles[0] for titles in found}) == len(others)
