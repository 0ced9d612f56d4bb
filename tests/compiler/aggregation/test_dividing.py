"""Parts of a page that has grown out of a section."""

from compiler.aggregate.listing import Child
from compiler.aggregate.updating import divide
from db.ids import new_id


def children(*tags: str) -> list[Child]:
    return [Child(new_id(), "entity", f"p-{n}", f"P {n}", None, tuple(own.split())) for n, own in enumerate(tags)]


def sizes(given: list[Child], *but: str) -> dict[str, int]:
    return {tag: len(part) for tag, part in divide(given, but).items()}


def test_five_pages_with_a_tag_in_common_are_a_part_if_they_are_not_more_than_half() -> None:
    assert sizes(children(*["music"] * 5, *["art"] * 5)) == {"art": 5}
    assert sizes(children(*["music"] * 4, *["art"] * 9)) == {}
    assert sizes(children(*["music"] * 9)) == {}
    assert sizes(children(*["music art"] * 5, *[""] * 5)) == {"art": 5}


def test_a_page_is_in_one_part_and_the_commonest_tag_takes_it() -> None:
    assert sizes(children(*["music kids"] * 3, *["music"] * 5, *["kids"] * 4, *["x"] * 9)) == {"x": 9}
    given = children(*["music kids"] * 3, *["music"] * 5, *["kids"] * 5, *["a"] * 2, *["b"] * 2, *["c"] * 3)
    assert sizes(given) == {"kids": 8, "music": 5}


def test_what_is_a_part_already_is_none_again() -> None:
    assert sizes(children(*["music"] * 5, *["art"] * 7), "art", "music") == {}


def test_a_tag_that_could_not_stand_above_a_section_makes_no_part() -> None:
    given = [child._replace(tags=(tag,)) for tag in ("x #", "a\nb", "y ##") for child in children(*["t"] * 5)]
    assert divide(given, ()) == {}
    assert sizes(children(*["c#"] * 5, *[""] * 5)) == {"c#": 5}
