"""A promoted page is divided into parts by the tags of the pages that it lists."""

from compiler.aggregate.listing import Child
from compiler.aggregate.updating import divide
from db.ids import new_id


def children(*tags: str) -> list[Child]:
    return [Child(new_id(), "entity", f"p-{n}", f"P {n}", None, tuple(own.split())) for n, own in enumerate(tags)]


def sizes(given: list[Child], *existing: str) -> dict[str, int]:
    return {tag: len(part) for tag, part in divide(given, existing).items()}


def test_five_pages_that_share_a_tag_are_a_part_up_to_half_of_all() -> None:
    assert sizes(children(*["music"] * 5, *["art"] * 5)) == {"art": 5}
    assert sizes(children(*["music"] * 4, *["art"] * 9)) == {}
    assert sizes(children(*["music"] * 9)) == {}
    assert sizes(children(*["music art"] * 5, *[""] * 5)) == {"art": 5}


def test_a_page_belongs_to_the_part_of_its_commonest_tag() -> None:
    assert sizes(children(*["music kids"] * 3, *["music"] * 5, *["kids"] * 4, *["x"] * 9)) == {"x": 9}
    given = children(*["music kids"] * 3, *["music"] * 5, *["kids"] * 5, *["a"] * 2, *["b"] * 2, *["c"] * 3)
    assert sizes(given) == {"kids": 8, "music": 5}


def test_tags_that_have_a_part_already_make_no_other() -> None:
    assert sizes(children(*["music"] * 5, *["art"] * 7), "art", "music") == {}


def test_tags_that_cannot_be_headings_make_no_part() -> None:
    given = [child._replace(tags=(tag,)) for tag in ("x #", "a\nb", "y ##") for child in children(*["t"] * 5)]
    assert divide(given, ()) == {}
    assert sizes(children(*["c#"] * 5, *[""] * 5)) == {"c#": 5}
