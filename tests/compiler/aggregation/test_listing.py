"""The text of a list has a line for each page, and keeps the lines that people wrote."""

from dataclasses import replace

from compiler.aggregate.density import Aggregation
from compiler.aggregate.listing import Child, Listing, build_listing, shorten_section
from content.names import slugify
from db.ids import new_id


def child(title: str, summary: str | None = None, *tags: str) -> Child:
    return Child(new_id(), "entity", slugify(title), title, summary, tags)


def aggregation_of(text: Listing) -> Aggregation:
    return Aggregation(linked_page_ids=text.ids, line_digests=text.digests, dismissed_page_ids=text.dismissed)


FRANKLIN = child("Franklin Barbecue", "BBQ joint in Austin, TX. Long lines.")
RAMEN = child("Ramen Tatsuya")
TACOS = child("Ábaco Tacos", "Tacos.")


def test_pages_are_listed_in_the_order_of_their_titles() -> None:
    text = build_listing("", [FRANKLIN, RAMEN, TACOS], Aggregation())
    assert text.body == (
        "- [**Ábaco Tacos**](/wiki/entity/abaco-tacos) — Tacos.\n"
        "- [**Franklin Barbecue**](/wiki/entity/franklin-barbecue) — BBQ joint in Austin, TX.\n"
        "- [**Ramen Tatsuya**](/wiki/entity/ramen-tatsuya)"
    )
    assert build_listing(text.body, [RAMEN, TACOS, FRANKLIN], aggregation_of(text)) == text


def test_a_line_changes_and_disappears_with_its_page() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    moved = FRANKLIN._replace(title="Franklin", slug="franklin", summary="Closed.")
    renamed = text.body.replace("/franklin-barbecue)", "/franklin)")
    assert build_listing(renamed, [moved, RAMEN], aggregation_of(text)).body.splitlines()[0] == (
        "- [**Franklin**](/wiki/entity/franklin) — Closed."
    )
    assert (
        build_listing(text.body, [RAMEN], aggregation_of(text)).body
        == "- [**Ramen Tatsuya**](/wiki/entity/ramen-tatsuya)"
    )


def test_lines_of_people_stay_above_the_list() -> None:
    text = build_listing("", [RAMEN], Aggregation())
    edited = f"Our favourites:\n\n{text.body}\n- Mind the queue."
    after = build_listing(edited, [RAMEN, FRANKLIN], aggregation_of(text))
    assert after.body.startswith("Our favourites:\n\n- Mind the queue.\n\n- [**Franklin")
    assert build_listing(after.body, [RAMEN, FRANKLIN], aggregation_of(after)) == after


def test_lines_changed_by_people_are_not_rewritten() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    edited = text.body.replace("BBQ joint in Austin, TX.", "worth the wait")
    for summary in ("New.", None):
        after = build_listing(edited, [FRANKLIN._replace(summary=summary), RAMEN], aggregation_of(text))
        assert after.body == edited
        text = after


def test_lines_removed_by_people_stay_out_until_they_are_restored() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    ramen = text.body.splitlines()[1]
    after = build_listing(ramen, [FRANKLIN, RAMEN], aggregation_of(text))
    assert (after.body, after.ids, after.dismissed) == (ramen, (RAMEN.id,), (FRANKLIN.id,))
    assert build_listing(after.body, [FRANKLIN, RAMEN, TACOS], aggregation_of(after)).ids == (TACOS.id, RAMEN.id)
    back = build_listing(text.body, [FRANKLIN, RAMEN], aggregation_of(after))
    assert (back.ids, back.dismissed) == ((FRANKLIN.id, RAMEN.id), ())


def test_lines_of_titles_in_any_script_are_recognised() -> None:
    children = [
        child("翠湖公园"),
        child("A](b) **x**\nB", "One\n\n## Two"),
        child("สวนลุม"),
        child("`code` [[x]] $1"),
        child("a ` b", "c ` d"),
    ]
    text = build_listing("", children, Aggregation())
    assert len(text.body.splitlines()) == 5
    assert not any(line.startswith("##") for line in text.body.splitlines())
    assert build_listing(text.body, children, aggregation_of(text)) == text


def test_a_promoted_section_keeps_a_summary_highlights_and_a_link() -> None:
    children = [child(f"Place {n}", None, "music")._replace(source_count=n % 4) for n in range(8)]
    text = build_listing("", children, Aggregation())
    before = replace(aggregation_of(text), supporting_record_count=12, observed_tags=("music",))
    body = shorten_section(f"Mine.\n\n{text.body}", children, before, "Austin Activities", "austin-activities")
    assert body.splitlines() == [
        "Mine.", "", "8 pages about music, from 12 sources. Among them:", "",
        *(f"- [**Place {n}**](/wiki/entity/place-{n})" for n in (3, 7, 2, 6, 1)),
        "", "See: [Austin Activities](/wiki/topic/austin-activities)",
    ]  # fmt: skip
