"""What a page's evidence says it belongs to."""

from typing import Any

import pytest

from compiler.aggregate.kinds import kind_of
from compiler.aggregate.naming import MetadataValue, by_summary, candidates, observed_tags, topic_names
from compiler.aggregate.placement_evidence import placement_evidence
from compiler.planner import PageCard
from content.names import normalise
from db.ids import new_id


def card(title: str = "Momofuku", summary: str | None = None, type: str = "entity", **more: Any) -> PageCard:
    return PageCard(new_id(), type, "x", title, summary, frozenset({normalise(title)}), **more)


def said(sources: int = 1, **metadata: Any) -> MetadataValue:
    return MetadataValue(placement_evidence(metadata), sources)


def aliases(*given: MetadataValue, summary: str | None = None) -> dict[str, tuple[str, ...]]:
    return {one.alias: one.bases for one in candidates(card(summary=summary), given)}


def test_two_sources_that_share_a_city_or_a_journal_name_it_and_one_does_not() -> None:
    assert aliases(said(2, city="Austin")) == {"austin": ("city",)}
    assert aliases(said(1, city="Austin"), said(1, city="austin", journal_id="Spring trip")) == {"austin": ("city",)}
    assert aliases(said(1, city="Austin", tags=["food"])) == {}


def test_one_source_is_enough_when_it_is_about_the_page() -> None:
    found = aliases(said(1, place="Momofuku", city="Toronto", journal="Trip", tags="food, ramen"))
    assert found == {"toronto": ("city",), "trip": ("journal",), "food": ("tag",), "ramen": ("tag",)}


def test_a_page_never_belongs_to_itself() -> None:
    assert aliases(said(3, city="Momofuku", place={"name": "Momofuku"})) == {}


def test_metadata_may_be_lists_and_mappings_and_nonsense_is_passed_over() -> None:
    assert set(aliases(said(2, city=["Austin", {"name": "Lisbon"}, 7, None], journal_id="j-17"))) == {
        "austin",
        "lisbon",
    }
    assert aliases(said(9, city={"a": 1}, tags={"x": 1}, place=[[]], journal=True)) == {}


@pytest.mark.parametrize(
    ("summary", "names"),
    [
        ("BBQ joint in Austin, TX.", ["Austin", "Austin, TX"]),
        ("Korean-inspired restaurant in Toronto.", ["Toronto"]),
        ("Ein Café in München. Sehr gut in Wien.", ["München"]),
        ("Uma tasca em São Paulo", ["São Paulo"]),
        ("A restaurant in Rio de Janeiro, Brazil", ["Rio de Janeiro", "Rio de Janeiro, Brazil"]),
        ("Known in general for tea.", []),
        (None, []),
        ("in " + "A" * 5_000, ["A" * 156]),
    ],
)
def test_a_summary_says_where_something_is(summary: str | None, names: list[str]) -> None:
    assert list(by_summary(card(summary=summary))) == names


def test_a_topic_is_a_parent_by_its_title_and_by_that_without_its_region() -> None:
    assert topic_names("Austin, Texas") == ["austin texas", "austin"]
    assert topic_names("Lisbon") == ["lisbon"]


def test_tags_are_counted_by_sources_and_the_commonest_comes_first() -> None:
    assert observed_tags([said(1, tags=["b", "a"]), said(3, tags="c"), said(1, tags=["a"])]) == ("c", "a", "b")


@pytest.mark.parametrize(
    ("given", "evidence", "kind"),
    [
        (card(type="decision"), (), "decisions"),
        (card(type="theme"), (), "concepts"),
        (card(type="source"), (), "others"),
        (card("Priya"), (said(1, person="Priya", tags=["food"]),), "people"),
        (card("Cairn"), (said(1, project="Cairn"),), "projects"),
        (card(), (said(1, tags=["food"]),), "restaurants"),
        (card(), (said(1, tags=["food"]), said(2, tags=["music"])), "activities"),
        (card(tags=("Ausflug",)), (), "activities"),
        (card("Hotel Lutetia"), (), "stays"),
        (card("Livraria", "A bookstore in Lisbon."), (), "shops"),
        (card("Alfama"), (said(1, place="Alfama"),), "places"),
        (card("Tram 28"), (), "others"),
    ],
)
def test_what_kind_of_thing_a_page_is(given: PageCard, evidence: tuple[MetadataValue, ...], kind: str) -> None:
    assert kind_of(given, evidence) == kind
