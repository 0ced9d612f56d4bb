"""The text of a list, and whose lines are whose."""

from dataclasses import replace

from compiler.aggregate.density import Aggregation
from compiler.aggregate.listing import Child, Listing, build_listing, shorten_section
from content.names import slugify
from db.ids import new_id


def child(title: str, summary: str | None = None, *tags: str) -> Child:
    return Child(new_id(), "entity", slugify(title), title, summary, tags)


def known(text: Listing) -> Aggregation:
    return Aggregation(linked_page_ids=text.ids, line_digests=text.digests, dismissed_page_ids=text.dismissed)


FRANKLIN = child("Franklin Barbecue", "BBQ joint in Austin, TX. Long lines.")
RAMEN = child("Ramen Tatsuya")
TACOS = child("Ábaco Tacos", "Tacos.")


def test_each_page_has_a_line_in_the_order_of_their_titles() -> None:
    text = build_listing("", [FRANKLIN, RAMEN, TACOS], Aggregation())
    assert text.body == (
        "- [**Ábaco Tacos**](/wiki/entity/abaco-tacos) — Tacos.\n"
        "- [**Franklin Barbecue**](/wiki/entity/franklin-barbecue) — BBQ joint in Austin, TX.\n"
        "- [**Ramen Tatsuya**](/wiki/entity/ramen-tatsuya)"
    )
    assert build_listing(text.body, [RAMEN, TACOS, FRANKLIN], known(text)) == text


def test_a_line_follows_its_page_and_goes_with_it() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    moved = FRANKLIN._replace(title="Franklin", slug="franklin", summary="Closed.")
    renamed = text.body.replace("/franklin-barbecue)", "/franklin)")
    assert build_listing(renamed, [moved, RAMEN], known(text)).body.splitlines()[0] == (
        "- [**Franklin**](/wiki/entity/franklin) — Closed."
    )
    assert build_listing(text.body, [RAMEN], known(text)).body == "- [**Ramen Tatsuya**](/wiki/entity/ramen-tatsuya)"


def test_what_a_person_writes_stays_above_the_list() -> None:
    text = build_listing("", [RAMEN], Aggregation())
    edited = f"Our favourites:\n\n{text.body}\n- Mind the queue."
    after = build_listing(edited, [RAMEN, FRANKLIN], known(text))
    assert after.body.startswith("Our favourites:\n\n- Mind the queue.\n\n- [**Franklin")
    assert build_listing(after.body, [RAMEN, FRANKLIN], known(after)) == after


def test_a_line_that_a_person_changed_is_theirs() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    edited = text.body.replace("BBQ joint in Austin, TX.", "worth the wait")
    for summary in ("New.", None):
        after = build_listing(edited, [FRANKLIN._replace(summary=summary), RAMEN], known(text))
        assert after.body == edited
        text = after


def test_a_line_that_a_person_took_out_stays_out_until_they_put_it_back() -> None:
    text = build_listing("", [FRANKLIN, RAMEN], Aggregation())
    ramen = text.body.splitlines()[1]
    after = build_listing(ramen, [FRANKLIN, RAMEN], known(text))
    assert (after.body, after.ids, after.dismissed) == (ramen, (RAMEN.id,), (FRANKLIN.id,))
    assert build_listing(after.body, [FRANKLIN, RAMEN, TACOS], known(after)).ids == (TACOS.id, RAMEN.id)
    back = build_listing(text.body, [FRANKLIN, RAMEN], known(after))
    assert (back.ids, back.dismissed) == ((FRANKLIN.id, RAMEN.id), ())


def test_titles_of_any_script_and_with_any_marks_are_found_again() -> None:
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
    assert build_listing(text.body, children, known(text)) == text


def test_what_has_grown_leaves_a_summary_highlights_and_the_way() -> None:
    children = [child(f"Place {n}", None, "music")._replace(source_count=n % 4) for n in range(8)]
    text = build_listing("", children, Aggregation())
    before = replace(known(text), supporting_record_count=12, observed_tags=("music",))
    body = shorten_section(f"Mine.\n\n{text.body}", children, before, "Austin Activities", "austin-activities")
    assert body.splitlines() == [
        "Mine.", "", "8 pages about music, from 12 sources. Among them:", "",
        *(f"- [**Place {n}**](/wiki/entity/place-{n})" for n in (3, 7, 2, 6, 1)),
        "", "See: [Austin Activities](/wiki/topic/austin-activities)",
    ]  # fmt: skip
