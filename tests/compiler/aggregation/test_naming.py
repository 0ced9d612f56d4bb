"""The sources of a page name the topics that it belongs to."""

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


def metadata_value(sources: int = 1, **metadata: Any) -> MetadataValue:
    return MetadataValue(placement_evidence(metadata), sources)


def aliases(*given: MetadataValue, summary: str | None = None) -> dict[str, tuple[str, ...]]:
    return {candidate.alias: candidate.bases for candidate in candidates(card(summary=summary), given)}


def test_two_sources_name_their_city_as_topic_and_one_does_not() -> None:
    assert aliases(metadata_value(2, city="Austin")) == {"austin": ("city",)}
    assert aliases(metadata_value(1, city="Austin"), metadata_value(1, city="austin", journal_id="Spring trip")) == {
        "austin": ("city",)
    }
    assert aliases(metadata_value(1, city="Austin", tags=["food"])) == {}


def test_a_single_source_about_the_page_names_its_topics() -> None:
    found = aliases(metadata_value(1, place="Momofuku", city="Toronto", journal="Trip", tags="food, ramen"))
    assert found == {"toronto": ("city",), "trip": ("journal",), "food": ("tag",), "ramen": ("tag",)}


def test_a_page_never_belongs_to_itself() -> None:
    assert aliases(metadata_value(3, city="Momofuku", place={"name": "Momofuku"})) == {}


def test_metadata_may_be_lists_or_mappings_and_invalid_values_are_ignored() -> None:
    assert set(aliases(metadata_value(2, city=["Austin", {"name": "Lisbon"}, 7, None], journal_id="j-17"))) == {
        "austin",
        "lisbon",
    }
    assert aliases(metadata_value(9, city={"a": 1}, tags={"x": 1}, place=[[]], journal=True)) == {}


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
def test_a_summary_names_the_place_of_a_page(summary: str | None, names: list[str]) -> None:
    assert list(by_summary(card(summary=summary))) == names


def test_topic_names_are_the_title_with_and_without_its_region() -> None:
    assert topic_names("Austin, Texas") == ["austin texas", "austin"]
    assert topic_names("Lisbon") == ["lisbon"]


def test_observed_tags_are_ordered_by_the_number_of_sources() -> None:
    assert observed_tags(
        [metadata_value(1, tags=["b", "a"]), metadata_value(3, tags="c"), metadata_value(1, tags=["a"])]
    ) == ("c", "a", "b")


@pytest.mark.parametrize(
    ("given", "evidence", "kind"),
    [
        (card(type="decision"), (), "decisions"),
        (card(type="theme"), (), "concepts"),
        (card(type="source"), (), "others"),
        (card("Priya"), (metadata_value(1, person="Priya", tags=["food"]),), "people"),
        (card("Cairn"), (metadata_value(1, project="Cairn"),), "projects"),
        (card(), (metadata_value(1, tags=["food"]),), "restaurants"),
        (card(), (metadata_value(1, tags=["food"]), metadata_value(2, tags=["music"])), "activities"),
        (card(tags=("Ausflug",)), (), "activities"),
        (card("Hotel Lutetia"), (), "stays"),
        (card("Livraria", "A bookstore in Lisbon."), (), "shops"),
        (card("Alfama"), (metadata_value(1, place="Alfama"),), "places"),
        (card("Tram 28"), (), "others"),
    ],
)
def test_the_kind_of_a_page_follows_from_type_metadata_and_words(
    given: PageCard, evidence: tuple[MetadataValue, ...], kind: str
) -> None:
    assert kind_of(given, evidence) == kind
