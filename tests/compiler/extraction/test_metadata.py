"""Cities, towns of addresses and tags are read from the metadata of a source."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.texts.metadata import cities, tags_in, town_in
from tests.compiler.extraction.stories import compiled, note, notes, titles


@pytest.mark.parametrize(
    ("address", "town"),
    [
        ("26110 Vinsobres, France", "Vinsobres"),
        ("900 E 11th St, Austin, TX 78702, USA", "Austin"),
        ("Rua dos Bacalhoeiros 60, 1100-071 Lisboa, Portugal", "Lisboa"),
        ("221B Baker St, London NW1 6XE, UK", "London"),
        ("1600 Pennsylvania Ave NW, Washington, DC 20500", "Washington"),
        ("Storgatan 1, SE-411 04 Göteborg", "Göteborg"),
        ("Av. Paulista 1578, São Paulo - SP, 01310-200, Brazil", "São Paulo"),
        ("Damrak 1, 1012 AB Amsterdam", "Amsterdam"),
        ("10 Sydney St, Sydney NSW 2000, Australia", "Sydney"),
        ("290 Bremner Blvd, Toronto, ON M5V 3L9, Canada", "Toronto"),
    ],
)
def test_the_town_of_an_address_is_found_by_its_postcode(address: str, town: str) -> None:
    assert town_in(address) == town


@pytest.mark.parametrize(
    "address",
    ["1600 Pennsylvania Ave, Washington", "Franklin Barbecue, Austin", "Lisbon", "78702", "", ", ,", "x" * 9999],
)
def test_an_address_without_a_name_beside_a_postcode_has_no_town(address: str) -> None:
    assert town_in(address) is None


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"city": "Lisbon", "place_city": "Porto"}, ["Lisbon"]),
        ({"place_city": "Vinsobres"}, ["Vinsobres"]),
        ({"place": {"name": "Domaine", "city": "Vinsobres"}}, ["Vinsobres"]),
        ({"place.city": "Vinsobres"}, ["Vinsobres"]),
        ({"place_address": "26110 Vinsobres, France"}, ["Vinsobres"]),
        ({"place": {"name": "Domaine", "address": "26110 Vinsobres, France"}}, ["Vinsobres"]),
        ({"address": "26110 Vinsobres, France"}, ["Vinsobres"]),
        ({"place_city": "", "address": "26110 Vinsobres, France"}, ["Vinsobres"]),
        ({"place": "Domaine", "address": ["26110 Vinsobres"]}, []),
    ],
)
def test_a_city_is_read_from_any_of_its_metadata_fields(metadata: dict[str, Any], found: list[str]) -> None:
    assert cities(metadata) == found


@given(st.text(max_size=100) | st.text(alphabet="0123456789 -,ABCabc", max_size=600))
def test_any_text_is_accepted_as_an_address(address: str) -> None:
    town = town_in(address)
    assert town is None or town in " ".join(address.split())


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"tags": ["maps", "#sea"]}, ["maps", "sea"]),
        ({"categories": ["compilers"], "tags": "maps, sea"}, ["maps", "sea", "compilers"]),
        ({"category": "读书", "keywords": ["读书", 7]}, ["读书"]),
    ],
)
def test_categories_and_keywords_count_as_tags(metadata: dict[str, Any], found: list[str]) -> None:
    assert tags_in(metadata) == found


@pytest.mark.parametrize(
    "metadata",
    [
        {"categories": ["Compilers"]},
        {"category": "Compilers"},
        {"tags": ["Misc"]},
        {"tags": ["日常"]},
    ],
)
def test_labels_that_no_text_contains_earn_no_page(metadata: dict[str, Any]) -> None:
    texts = ["Rain all day.", "The pump works again.", "Nothing new here.", "A long walk."]
    assert titles(compiled(notes(*texts, **metadata))) == []


def test_a_tag_that_no_text_contains_earns_a_page() -> None:
    texts = ["Rain all day.", "The pump works again.", "Nothing new here.", "A long walk."]
    assert titles(compiled(notes(*texts, tags=["Compilers"]))) == ["Compilers"]


@pytest.mark.parametrize("batch", [1, 50])
def test_categories_count_if_a_text_contains_them(batch: int) -> None:
    sources = notes("Rain all day.", "The pump works again.", "Nothing new here.", categories=["Compilers"])
    sources += [note(9, "Two compilers were slow.", categories=["Compilers"])]
    assert titles(compiled(sources, batch)) == ["Compilers"]


def test_latin_tags_of_chinese_notes_earn_no_page_by_themselves() -> None:
    texts = ["昨天下雨了，没有出门。", "水泵又能用了。", "今天没有什么新鲜事。", "走了很长的路。"]
    assert titles(compiled(notes(*texts, tags=["watching"]))) == []
