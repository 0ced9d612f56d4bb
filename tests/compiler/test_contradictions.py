"""Contradictions of sources are recorded once, stay resolved, and are removed with either source."""

from datetime import UTC, datetime

import pytest

from resolvers.pages.claims.contradictions import Resolution, resolve_contradiction
from resolvers.sources.compile_requests import rebuild_page, reset_cursor
from resolvers.sources.sources import forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all
from tests.compiler.test_corrections import BEFORE, body, keep, rules
from tests.wiki import Wiki

OTHERWISE = "Ana Ruiz lives in Lisbon."


@pytest.mark.parametrize("at_once", [True, False])
async def test_contradicting_claims_are_recorded_and_both_stay_on_the_page(wiki: Wiki, at_once: bool) -> None:
    await keep(wiki, *BEFORE)
    if not at_once:
        await compile_all(wiki, rules())
    await keep(wiki, OTHERWISE, start=10)
    await compile_all(wiki, rules())
    (row,) = await wiki.rows("contradictions")
    assert (row["older_claim"], row["newer_claim"]) == ("Ana Ruiz lives in Porto.", OTHERWISE)
    refs = {source["id"]: source["ref"] for source in await wiki.rows("sources")}
    assert (refs[row["older_source_id"]], refs[row["newer_source_id"]]) == ("day-0", "day-10")
    assert (row["older_on"], row["newer_on"]) == (
        datetime(2026, 1, 10, 9, tzinfo=UTC), datetime(2026, 1, 20, 9, tzinfo=UTC),
    )  # fmt: skip
    assert (row["status"], row["older_support"], row["newer_support"]) == ("open", 1, 1)
    assert row["older_section_slug"] is not None
    assert await wiki.rows("superseded_claims") == []
    text = await body(wiki)
    assert "lives in Porto" in text
    assert "lives in Lisbon" in text


async def test_a_contradiction_is_recorded_once_if_sources_are_read_again(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, OTHERWISE)
    await compile_all(wiki, rules())
    before = await wiki.rows("contradictions")
    await reset_cursor(wiki.database, wiki.scope)
    await keep(wiki, "Ana Ruiz sent two samples from the farm.", start=20)
    await compile_all(wiki, rules())
    assert await wiki.rows("contradictions") == before


async def test_a_contradiction_is_resolved_if_a_source_supersedes_a_claim(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, OTHERWISE)
    await compile_all(wiki, rules())
    await keep(wiki, "Ana Ruiz moved from Porto to Faro.", start=20)
    await compile_all(wiki, rules())
    (claim,) = await wiki.rows("superseded_claims")
    (row,) = await wiki.rows("contradictions")
    assert (claim["fact"], row["status"], row["resolution"]) == (row["older_claim"], "resolved", "keep_newer")
    assert row["reason"] == "The older claim was superseded: Ana Ruiz moved from Porto to Faro."
    assert (row["resolver_kind"], row["resolved_at"] is None) == ("compiler", False)


@pytest.mark.parametrize(
    ("resolution", "kept_city", "removed_city"), [("keep_newer", "Lisbon", "Porto"), ("keep_older", "Porto", "Lisbon")]
)
async def test_a_resolution_survives_recompiling_and_rebuilding_the_page(
    wiki: Wiki, resolution: str, kept_city: str, removed_city: str
) -> None:
    await keep(wiki, *BEFORE, OTHERWISE)
    await compile_all(wiki, rules())
    (row,) = await wiki.rows("contradictions")
    await resolve_contradiction(wiki.database, wiki.scope, row["id"], Resolution(resolution), "I asked her.")
    assert f"lives in {removed_city}" not in await body(wiki)
    assert "“”" not in await body(wiki)
    await keep(wiki, "Ana Ruiz sent two samples from the farm.", start=20)
    await compile_all(wiki, rules())
    await rebuild_page(wiki.database, wiki.scope, row["page_id"])
    await compile_all(wiki, rules())
    assert f"lives in {removed_city}" not in await body(wiki)
    assert f"lives in {kept_city}" in await body(wiki)
    (claim,) = await wiki.rows("superseded_claims")
    assert (claim["fact"], claim["replacement"]) == (
        f"Ana Ruiz lives in {removed_city}.",
        f"Ana Ruiz lives in {kept_city}.",
    )
    (row,) = await wiki.rows("contradictions")
    assert row["status"] == "resolved"


@pytest.mark.parametrize(
    "text",
    [
        "Ana Ruiz moved from Porto to Lisbon.",
        "Ana Ruiz may live in Lisbon.",
        "Bruno Dias lives in Lisbon. Ana Ruiz helped.",
        "Ana Ruiz visited Lisbon.",
        "Does Ana Ruiz live in Lisbon?",
    ],
)
async def test_a_correction_a_doubt_and_another_person_contradict_nothing(wiki: Wiki, text: str) -> None:
    await keep(wiki, *BEFORE, text)
    await compile_all(wiki, rules())
    assert await wiki.rows("contradictions") == []


@pytest.mark.parametrize("ref", ["day-0", "day-3"])
async def test_forgetting_either_source_removes_the_contradiction(wiki: Wiki, ref: str) -> None:
    await keep(wiki, *BEFORE, OTHERWISE)
    await compile_all(wiki, rules())
    assert "contradictions.older_claim" in await found_in(wiki, "Porto")
    (source,) = [row["id"] for row in await wiki.rows("sources") if row["ref"] == ref]
    await forget_source(wiki.database, wiki.scope, source)
    await compile_all(wiki, rules())
    assert await wiki.rows("contradictions") == []
