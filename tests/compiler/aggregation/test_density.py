"""The density of a list decides whether it is promoted to a page of its own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from compiler.aggregate.density import Aggregation, coherence, is_ready, parse_aggregation, score, status
from db.ids import new_id
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.sections import patch_section
from tests.compiler.aggregation.test_aggregation_pass import compile_places
from tests.compiler.scripted_compiler import pages_by_title
from tests.wiki import Wiki

START = datetime(2026, 4, 1, tzinfo=UTC)
FULL = Aggregation(
    linked_page_ids=tuple(new_id() for _ in range(20)),
    supporting_record_count=30,
    first_source_at=START,
    last_source_at=START + timedelta(days=30),
    observed_tags=("bbq", "food"),
    promotion_score=1.0,
)
TAGS = [("bbq",)] * 20


def test_the_score_adds_up_links_records_days_coherence_and_text() -> None:
    assert score(FULL, TAGS, 1_800) == 1.0
    assert score(FULL, TAGS, 90_000) == 1.0
    assert score(Aggregation(), [], 0) == 0.0
    assert score(replace(FULL, linked_page_ids=FULL.linked_page_ids[:10]), TAGS, 1_800) == 0.875
    assert score(replace(FULL, supporting_record_count=15), TAGS, 1_800) == 0.875
    assert score(replace(FULL, last_source_at=START + timedelta(days=15)), TAGS, 1_800) == 0.9
    assert score(FULL, [("bbq",), ("rain",), (), ("food", "sun")], 1_800) == 0.925
    assert score(FULL, TAGS, 900) == 0.925


def test_coherence_is_the_share_of_pages_with_an_observed_tag() -> None:
    assert coherence([("a",), ("b",), ()], ["a", "b"]) == pytest.approx(2 / 3)
    assert coherence([], ["a"]) == 0.0


def test_a_score_of_0_4_makes_a_candidate_and_decisions_stay() -> None:
    assert [status(FULL, points) for points in (0.39, 0.40, 1.0)] == ["none", "candidate", "candidate"]
    for decision in ("promoted", "suppressed"):
        assert status(replace(FULL, promotion_status=decision), 0.0) == decision
        assert status(replace(FULL, promotion_status=decision), 1.0) == decision


@pytest.mark.parametrize(
    "lacking",
    [
        {"linked_page_ids": FULL.linked_page_ids[:14]},
        {"supporting_record_count": 19},
        {"last_source_at": START + timedelta(days=29, hours=23)},
        {"last_source_at": None},
        {"promotion_score": 0.54},
        {"promotion_status": "suppressed"},
        {"promotion_status": "promoted"},
        {"is_whole": True},
    ],
)
def test_each_threshold_has_to_be_reached(lacking: dict[str, object]) -> None:
    ready = replace(
        FULL, linked_page_ids=FULL.linked_page_ids[:15], supporting_record_count=20, promotion_score=0.55,
    )  # fmt: skip
    assert is_ready(ready, TAGS)
    assert not is_ready(replace(ready, **lacking), TAGS)  # type: ignore[arg-type]


def test_promotion_needs_two_pages_that_share_a_tag() -> None:
    assert not is_ready(FULL, [(f"tag {n}",) for n in range(20)])
    assert not is_ready(FULL, [("bbq", "bbq"), ("food",)])


def test_a_stored_aggregation_is_read_back_and_invalid_values_ignored() -> None:
    full = replace(
        FULL, promotion_status="promoted", promoted_page_id=new_id(), line_digests=("a", ""), tag="music",
        dismissed_page_ids=(new_id(),), is_whole=True,
    )  # fmt: skip
    assert parse_aggregation(full.stored) == full
    assert full.stored["first_source_at"] == "2026-04-01T00:00:00Z"
    nonsense = {name: ["x", 7, None, {}] for name in full.stored} | {"tag": 7, "promotion_status": "é"}
    assert parse_aggregation(nonsense) == Aggregation(observed_tags=("x",), line_digests=("x",))
    assert parse_aggregation({}) == Aggregation()


async def test_a_section_that_is_marked_as_secret_is_promoted_to_a_secret_topic(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
    await compile_places(wiki, 4, tags=["park"])
    page_id, heading = (await pages_by_title(wiki))["Austin"]["id"], "Activities {sensitivity=secret}"
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="activities", heading=heading)
    await compile_places(wiki, 16, 4, tags=["park"])
    grown = (await pages_by_title(wiki))["Austin Activities"]
    assert (grown["metadata"]["sensitivity"], grown["summary"]) == ("secret", "Activities: Austin (park).")
