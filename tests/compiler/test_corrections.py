"""Claims that newer sources override are recorded once, replaced on the page and never restored."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from compiler.compiler import Caps, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.write.corrections import KnownClaim, without_superseded
from resolvers.pages.claims.claims import withdraw_claim
from resolvers.sources.compile_requests import rebuild_page, reset_cursor
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft, forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all
from tests.wiki import Wiki

START = datetime(2026, 1, 10, 9, tzinfo=UTC)
BEFORE = (
    "Met Ana Ruiz at the market. Ana Ruiz lives in Porto.",
    "Ana Ruiz called about the order. She was in a good mood.",
    "Lunch with Ana Ruiz, who brought the contract for the new beans.",
)
MOVED = "Ana Ruiz moved from Porto to Lisbon."


def rules(**more: object) -> Compiler:
    return Compiler(ExtractivePlanner(), ExtractiveWriter(), **more)  # type: ignore[arg-type]


async def keep(wiki: Wiki, *texts: str, start: int = 0) -> None:
    drafts = [
        SourceDraft(
            "daily_note", f"day-{n}", text, captured_at=START + timedelta(days=n), metadata={"person": "Ana Ruiz"}
        )
        for n, text in enumerate(texts, start)
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)


async def body(wiki: Wiki) -> str:
    return "\n".join(row["body_md"] for row in await wiki.rows("pages", "title") if row["title"] == "Ana Ruiz")


@pytest.mark.parametrize("at_once", [True, False])
async def test_an_overridden_claim_is_recorded_and_replaced_on_the_page(wiki: Wiki, at_once: bool) -> None:
    await keep(wiki, *BEFORE)
    if not at_once:
        await compile_all(wiki, rules())
        assert "Ana Ruiz lives in Porto." in await body(wiki)
    await keep(wiki, MOVED, start=10)
    await compile_all(wiki, rules(caps=Caps()))
    (claim,) = await wiki.rows("superseded_claims")
    assert (claim["fact"], claim["replacement"]) == ("Ana Ruiz lives in Porto.", MOVED)
    assert (claim["author_kind"], claim["superseded_on"]) == ("compiler", START + timedelta(days=10))
    refs = {row["id"]: row["ref"] for row in await wiki.rows("sources")}
    assert (refs[claim["stated_by_id"]], refs[claim["overridden_by_id"]]) == ("day-0", "day-10")
    text = await body(wiki)
    assert "lives in Porto" not in text
    assert MOVED in text


async def test_an_overridden_claim_stays_out_after_recompiling_and_rebuilding(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, MOVED)
    await compile_all(wiki, rules())
    await keep(wiki, "Ana Ruiz sent two samples from the farm.", "Ana Ruiz paid for the beans.", start=20)
    await compile_all(wiki, rules())
    page = next(row for row in await wiki.rows("pages") if row["title"] == "Ana Ruiz")
    assert "lives in Porto" not in page["body_md"]
    await rebuild_page(wiki.database, wiki.scope, page["id"])
    await compile_all(wiki, rules())
    assert "lives in Porto" not in await body(wiki)
    assert len(await wiki.rows("superseded_claims")) == 1


async def test_sources_that_are_read_again_record_no_claim_twice(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, MOVED)
    await compile_all(wiki, rules())
    before = await wiki.rows("superseded_claims")
    text = await body(wiki)
    await reset_cursor(wiki.database, wiki.scope)
    await keep(wiki, "Ana Ruiz sent two samples.", start=20)
    await compile_all(wiki, rules())
    assert await wiki.rows("superseded_claims") == before
    assert "lives in Porto" not in await body(wiki)
    assert text.count(MOVED) == (await body(wiki)).count(MOVED)


async def test_a_correction_is_a_revision_and_an_entry_of_the_activity_log(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    await keep(wiki, MOVED, start=10)
    await compile_all(wiki, rules())
    assert "claim.superseded" in await wiki.actions()
    page = next(row for row in await wiki.rows("pages") if row["title"] == "Ana Ruiz")
    states = await wiki.rows("revisions", "version", page_id=page["id"])
    assert page["version"] == states[-1]["version"] >= 2
    cited = await wiki.rows("section_sources", page_id=page["id"])
    (newest,) = [row["id"] for row in await wiki.rows("sources") if row["ref"] == "day-10"]
    assert newest in {row["source_id"] for row in cited}


@pytest.mark.parametrize(
    ("fact", "days", "is_left"),
    [
        ("Ana lives in Porto.", 5, False),
        ("lives in porto.", 5, True),
        ("Porto", 5, True),
        ("Ana lives in Porto.", -5, True),
    ],
    ids=["the quote", "another spelling", "a word of it", "said after the claim was superseded"],
)
def test_an_older_quote_of_a_superseded_claim_is_removed(fact: str, days: int, is_left: bool) -> None:
    text = "- 2026-01-10: “Ana lives in Porto.” [^a]\n- 2026-01-10: “She sings.” [^b]"
    known = [KnownClaim(fact, START + timedelta(days=days), b"", is_withdrawn=False)]
    assert ("Porto" in without_superseded(text, known, {"a": START, "b": START})) == is_left
    withdrawn = [replace(known[0], is_withdrawn=True)]
    assert without_superseded(text, withdrawn, {"a": START, "b": START}) == text
    assert without_superseded(text, known, {"b": START}) == text, "the date of the quote is unknown"


async def test_successive_corrections_leave_the_last(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, MOVED, "Ana Ruiz moved from Lisbon to Faro.")
    await compile_all(wiki, rules())
    facts = {row["fact"]: row["replacement"] for row in await wiki.rows("superseded_claims")}
    assert facts == {"Ana Ruiz lives in Porto.": MOVED, MOVED: "Ana Ruiz moved from Lisbon to Faro."}
    text = await body(wiki)
    assert "Porto" not in text
    assert "to Faro" in text


async def test_a_withdrawn_claim_is_not_recorded_again(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, MOVED)
    await compile_all(wiki, rules())
    (claim,) = await wiki.rows("superseded_claims")
    await withdraw_claim(wiki.database, wiki.scope, claim["id"])
    await keep(wiki, "Ana Ruiz sent two samples from the farm.", start=20)
    await compile_all(wiki, rules())
    (claim,) = await wiki.rows("superseded_claims")
    assert claim["withdrawn_at"] is not None


@pytest.mark.parametrize(
    "text",
    [
        "Ana Ruiz might move from Porto to Lisbon.",
        "Bruno Dias moved from Porto to Lisbon. Ana Ruiz helped.",
        "Did Ana Ruiz move from Porto to Lisbon?",
        "Ana Ruiz also has a flat in Lisbon.",
    ],
)
async def test_sentences_that_are_no_clear_correction_change_nothing(wiki: Wiki, text: str) -> None:
    await keep(wiki, *BEFORE, text)
    await compile_all(wiki, rules())
    assert await wiki.rows("superseded_claims") == []
    assert "Ana Ruiz lives in Porto." in await body(wiki)


async def test_an_older_source_that_is_retained_later_overrides_nothing(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, start=10)
    await compile_all(wiki, rules())
    await keep(wiki, MOVED, start=0)
    await compile_all(wiki, rules())
    assert await wiki.rows("superseded_claims") == []
    assert "Ana Ruiz lives in Porto." in await body(wiki)


@pytest.mark.parametrize("ref", ["day-0", "day-3"])
async def test_forgetting_either_source_removes_the_claim(wiki: Wiki, ref: str) -> None:
    await keep(wiki, *BEFORE, MOVED)
    await compile_all(wiki, rules())
    (source,) = [row["id"] for row in await wiki.rows("sources") if row["ref"] == ref]
    assert "superseded_claims.fact" in await found_in(wiki, "Porto")
    await forget_source(wiki.database, wiki.scope, source)
    await compile_all(wiki, rules())
    assert await wiki.rows("superseded_claims") == []
