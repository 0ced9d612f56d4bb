"""Cities, towns of addresses and tags are read from the metadata of a source."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.texts.metadata import cities, tags_in, town_in


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
