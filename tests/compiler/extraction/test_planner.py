"""What becomes a page, what is held, and what is linked."""

import asyncio
from dataclasses import replace
from uuid import uuid5

from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.planner import MentionCard, PageCard
from content.names import normalise
from tests.compiler.extraction.stories import (
    NAMESPACE,
    TRIP,
    body,
    compiled,
    leading_names,
    note,
    page,
    refs,
    story,
    titles,
)


def test_a_trip_becomes_a_wiki() -> None:
    wiki = compiled(TRIP)
    assert titles(wiki, "entity") == [
        "Alfama",
        "Chef João",
        "Franklin Barbecue",
        "Priya Raman",
        "Taberna dos Mercadores",
    ]
    assert titles(wiki, "topic") == ["Austin, Texas", "Food", "Lisbon"]
    assert titles(wiki, "decision") == ["Go back in October"]


def test_a_name_is_held_until_others_say_it() -> None:
    wiki = compiled(TRIP[:2])
    assert "Chef João" not in titles(wiki)
    held = wiki.held["chef joao"]
    assert (held.status, held.suggested_type, len(held.source_ids)) == ("open", "entity", 1)
    asyncio.run(wiki.compile(TRIP[2:]))
    assert wiki.held["chef joao"].status == "promoted"
    assert refs(wiki, page(wiki, "Chef João").sections["notes"].source_ids) == ["n1", "n2", "n6"]


def test_three_sources_earn_a_page_however_far_apart() -> None:
    text = "We saw the Falcon in the harbour."
    assert titles(compiled([note(n, text, day=400 * n) for n in range(2)])) == []
    assert titles(compiled([note(n, text, day=400 * n) for n in range(3)])) == ["Falcon"]


def test_a_name_in_a_long_list_counts_half() -> None:
    guests = "Guests were Marguerite, Bertrand, Ottilie, Casimir, Leonore, Valentin, Rosalind and Theodor."
    assert "Bertrand" not in titles(compiled(story(*[guests] * 5)))
    assert "Bertrand" in titles(compiled(story(*[guests] * 6)))
    assert "Bertrand" in titles(compiled(story(guests, guests, "Tea with Bertrand. Then Bertrand slept, Bertrand!")))


def test_a_held_name_says_how_far_it_is_from_its_page() -> None:
    wiki = compiled(story("We walked to the Daisy.", "They moved to the Daisy.", "Falcon sank."))
    standing = {key: (card.cluster["evidence"], card.cluster["lacks"]) for key, card in wiki.held.items()}
    assert standing["daisy"] == (1.5, "sources")
    assert standing["falcon"] == (0, "naming")


def test_what_former_versions_kept_with_a_name_counts_on() -> None:
    wiki = compiled(story("We saw the Falcon.", "We saw the Falcon again."))
    held = wiki.held["falcon"]
    kept = {"marks": {"name": 2}, "days": ["2019-04-01", "2021-04-02"], "forms": {"Falcon": 2}, "people": 0}
    wiki.held["falcon"] = replace(held, cluster=kept)
    asyncio.run(wiki.compile([note(7, "We saw the Falcon at last.")]))
    assert titles(wiki) == ["Falcon"]


def test_a_source_that_is_planned_again_counts_once() -> None:
    wiki = compiled(story("Tea with Marguerite."))
    for _ in range(4):
        asyncio.run(wiki.compile(story("Tea with Marguerite.")))
    assert titles(wiki) == []
    assert len(wiki.held["marguerite"].source_ids) == 1


def test_planning_everything_again_changes_nothing() -> None:
    wiki = compiled(TRIP)
    before = [page.markdown() for page in wiki.all]
    asyncio.run(wiki.compile(TRIP))
    assert [page.markdown() for page in wiki.all] == before


def test_an_ignored_name_gets_no_page() -> None:
    wiki = compiled(story("Tea with Marguerite."))
    held = wiki.held["marguerite"]
    wiki.held["marguerite"] = MentionCard(
        held.alias, held.name, "ignored", None, held.source_ids, held.seen_at, held.cluster
    )
    asyncio.run(wiki.compile([note(n, "Tea with Marguerite again.") for n in range(1, 6)]))
    assert titles(wiki) == []


def test_a_name_recorded_by_hand_counts_with_what_is_read() -> None:
    wiki = compiled([])
    early = [note(8, "…"), note(9, "…")]
    wiki.known.update({one.id: one for one in early})
    ids, seen = tuple(one.id for one in early), tuple(one.captured_at for one in early)
    wiki.held["marguerite"] = MentionCard("marguerite", "Marguerite", "open", "entity", ids, seen)
    asyncio.run(wiki.compile([note(10, "Tea with Marguerite in the garden.")]))
    assert titles(wiki) == ["Marguerite"]


def test_what_another_planner_kept_with_a_name_does_no_harm() -> None:
    wiki = compiled(story("Tea with Marguerite."))
    held = wiki.held["marguerite"]
    odd = {
        "marks": {"name": "many"},
        "days": ["soon", 7, None],
        "forms": [1],
        "people": "two",
        "co_mentions": {"a": {}},
    }
    wiki.held["marguerite"] = MentionCard(held.alias, held.name, "open", None, held.source_ids, held.seen_at, odd)
    asyncio.run(wiki.compile([note(n, "Tea with Marguerite again.") for n in range(1, 4)]))
    assert titles(wiki) == ["Marguerite"]


def test_a_place_of_the_metadata_has_a_page_at_once_with_its_tags() -> None:
    wiki = compiled(TRIP[:2])
    taberna = page(wiki, "Taberna dos Mercadores").card
    assert taberna.summary == "Taberna dos Mercadores is a tiny tavern in Alfama."
    assert taberna.tags == ("food",)


def test_a_place_and_its_city_are_linked_both_ways() -> None:
    wiki = compiled(TRIP)
    taberna, lisbon = page(wiki, "Taberna dos Mercadores").card.id, page(wiki, "Lisbon").card.id
    assert {(taberna, lisbon), (lisbon, taberna)} <= set(wiki.links)


def test_pages_of_one_sentence_are_linked_and_none_to_itself() -> None:
    wiki = compiled(TRIP)
    priya, alfama = page(wiki, "Priya Raman").card.id, page(wiki, "Alfama").card.id
    assert (priya, alfama) in wiki.links
    assert all(start != end for start, end in wiki.links)


def test_a_link_written_by_hand_is_a_link_between_pages() -> None:
    sources = [
        note(0, "It hides what is not needed, see [[Filters]].", title="Canvas"),
        note(1, "Everything about [[Canvas]] and [[Filters|what filters do]]."),
        note(2, "The [[Canvas]] again, and [[Filters]]."),
        note(3, "Boards: [[Canvas]]."),
    ]
    wiki = compiled(sources)
    assert (page(wiki, "Canvas").card.id, page(wiki, "Filters").card.id) in wiki.links


def test_a_first_name_leads_to_the_full_one() -> None:
    assert page(compiled(TRIP), "Priya Raman").card.aliases == {"priya", "priya raman"}


def test_two_people_of_one_first_name_are_two() -> None:
    texts = [f"Lunch with {name}." for name in ("Priya Raman", "Priya Shah") * 3]
    wiki = compiled(story(*texts), batch=1)
    assert {"priya raman", "priya shah"} <= leading_names(wiki)
    assert page(wiki, "Priya Shah") is not page(wiki, "Priya Raman")


def test_a_city_has_the_names_that_people_use() -> None:
    assert page(compiled(TRIP), "Austin, Texas").card.aliases == {"austin", "austin texas", "atx"}


def test_a_part_of_a_places_name_leads_to_it_where_a_note_about_it_says_so() -> None:
    wiki = compiled(
        [note(0, "Cold morning at Barton Springs.", place="Barton Springs Pool"), note(1, "Barton Springs with Nora.")]
    )
    assert "barton springs" in page(wiki, "Barton Springs Pool").card.aliases
    assert any("n1" in refs(wiki, one.source_ids) for one in page(wiki, "Barton Springs Pool").sections.values())


def test_an_existing_page_gets_what_a_new_source_says_of_it() -> None:
    wiki = compiled([])
    card = PageCard(uuid5(NAMESPACE, "page"), "reference", "brisket", "Brisket", None, frozenset({"brisket"}))
    plan = asyncio.run(ExtractivePlanner().plan([note(0, "The brisket needs fourteen hours.")], Shelf(card)))
    assert [(update.page_id, update.sections[0].slug) for update in plan.updates] == [(card.id, "notes")]
    assert plan.new_pages == ()
    assert wiki.all == []


class Shelf:
    """Knowledge of one page."""

    def __init__(self, card: PageCard) -> None:
        self.card = card

    async def pages(self, aliases):  # type: ignore[no-untyped-def]
        return {alias: [self.card] for alias in aliases if alias in self.card.aliases}

    async def names(self, max_names):  # type: ignore[no-untyped-def]
        return self.card.aliases if max_names else None

    async def mentions(self, aliases):  # type: ignore[no-untyped-def]
        return {}

    async def sources(self, ids):  # type: ignore[no-untyped-def]
        return {}

    async def sources_with(self, names, max_sources):  # type: ignore[no-untyped-def]
        return {}

    async def citations(self, page_ids):  # type: ignore[no-untyped-def]
        return {}


def test_a_definition_that_comes_later_becomes_the_summary() -> None:
    wiki = compiled(TRIP[:1] + [note(n, "Chef João sent soup.") for n in range(1, 4)])
    assert page(wiki, "Chef João").card.summary == "Chef João sent soup."
    asyncio.run(wiki.compile([note(9, "Chef João is a cook from Alfama with a quiet kitchen.")]))
    assert page(wiki, "Chef João").card.summary == "Chef João is a cook from Alfama with a quiet kitchen."


def test_common_words_with_a_capital_become_no_pages() -> None:
    texts = [
        "However, it rained. Dinner was late.",
        "However, the dinner was good. I'm tired.",
        "However, we slept. Monday is far.",
    ] * 3
    assert titles(compiled(story(*texts))) == []


def test_german_nouns_are_no_names_but_people_are() -> None:
    texts = [
        "Im Garten mit Annika Wasser geholt. Die Erde war trocken.",
        "Annika hat Kuchen gebacken. Der Garten ist voller Schnecken.",
        "Mit Annika im Garten gesessen. Wasser ist knapp.",
        "Der Garten ruht. Annika sagt, die Erde sei müde.",
    ]
    assert titles(compiled(story(*texts))) == ["Annika"]


def test_names_in_chinese_and_japanese_need_no_marks() -> None:
    chinese = story("早上去翠湖公园跑步，遇到王小明。", "和王小明在翠湖公园跑了五公里。", "王小明说翠湖公园人太多。")
    assert {"王小明", "翠湖公园"} <= set(titles(compiled(chinese)))
    japanese = story("田中さんと上野公園へ行った。", "上野公園で田中さんに会った。", "田中さんは上野公園が好きだ。")
    assert {"田中", "上野公園"} <= set(titles(compiled(japanese)))


def test_a_tag_of_three_notes_is_a_topic() -> None:
    wiki = compiled([note(n, f"Brisket number {n} took all night.", tags=["bbq"]) for n in range(3)])
    assert titles(wiki, "topic") == ["Bbq"]
    lines = [line for section in page(wiki, "Bbq").sections.values() for line in section.body.splitlines()]
    assert len(lines) == len(set(lines)) == 3


def test_metadata_of_any_shape_is_survived() -> None:
    shapes = [
        None,
        7,
        True,
        {"name": "Uchi"},
        ["Uchi", 3, None],
        "x" * 5000,
        {"a": {"b": []}},
        [[["deep"]]],
        "\n",
        "!!!",
    ]
    for number, shape in enumerate(shapes):
        compiled(
            [note(number, "Soup.", place=shape, city=shape, tags=shape, person=shape, journal_id=shape, project=shape)]
        )


def test_every_proposal_cites_sources_that_say_so() -> None:
    wiki = compiled(TRIP)
    for one in wiki.all:
        assert one.sections
        for section in one.sections.values():
            assert section.source_ids
            assert section.body


def test_names_are_looked_up_as_they_are_stored() -> None:
    for alias in leading_names(compiled(TRIP)):
        assert normalise(alias) == alias


def test_a_writer_without_sources_leaves_the_section_alone() -> None:
    from compiler.planner import SectionTask

    task = SectionTask("entity", "Uchi", frozenset({"uchi"}), "notes", "Notes", "Mine.", ())
    assert asyncio.run(ExtractiveWriter().write(task)) == "Mine."


def test_somebody_has_one_page_however_polite_the_text_is() -> None:
    wiki = compiled(story(*["昼は田中さんと定食を食べた。"] * 3, person="田中さん"))
    assert [sorted(page(wiki, title).card.aliases) for title in titles(wiki, "entity")] == [["田中", "田中さん"]]


def test_a_thing_that_is_once_said_like_a_person_has_no_first_name() -> None:
    notes = ["Nightjar Sync was slow.", "We moved it, then Nightjar Sync broke.", "For now Nightjar Sync is off."]
    wiki = compiled(story(*notes, "It was done with Nightjar Sync."))
    assert page(wiki, "Nightjar Sync").card.aliases == {"nightjar sync"}
    wiki = compiled(story(*["Those web pages were saved with Web Clipper."] * 3))
    assert page(wiki, "Web Clipper").card.aliases == {"web clipper"}, "nobody's name is also written small"


def test_a_topic_is_summed_up_by_a_sentence_about_it() -> None:
    used = "You can resize sidebars in the middle: sidebars are wide."
    wiki = compiled(
        story(used, "Sidebars hold the tabs.", "No, it only works when sidebars are open.", tags=["sidebars"])
    )
    assert page(wiki, "Sidebars").card.summary == "Sidebars hold the tabs."


def test_what_is_no_sentence_sums_up_nothing() -> None:
    labels = ["Have you seen Kestrel?", "Look at the Kestrel:", "Note: it is all in Kestrel now."]
    assert page(compiled(story(*labels)), "Kestrel").card.summary is None
    wiki = compiled(story(*labels, "Then came Kestrel"))
    assert page(wiki, "Kestrel").card.summary == "Then came Kestrel"


def test_without_a_sentence_a_topic_says_whom_and_what_its_notes_name() -> None:
    texts = ["Long walk with Marco in Zilker Park.", "Lunch with Marco.", "It rained on Marco in Zilker Park."]
    wiki = compiled(story(*texts, tags=["sport"]))
    assert page(wiki, "Sport").card.summary == "Marco, Zilker Park"


def test_a_city_is_introduced_by_a_sentence_that_names_it() -> None:
    texts = [
        "Somebody called about the boat.",
        "We walked through Lisbon until the lamps went on.",
        "It rained all day.",
    ]
    wiki = compiled(story(*texts, city="Lisbon"))
    assert body(wiki, "Lisbon", "summary") == "- 2026-04-02: “We walked through Lisbon until the lamps went on.” [^n1]"


def test_a_second_source_is_enough_where_one_is_about_the_name() -> None:
    about = note(0, "It reads object files.", title="Writing Compass, a small linker")
    said = note(1, "One of mine became the manual of Compass, after all.")
    assert titles(compiled([about, said])) == ["Compass"]
    assert titles(compiled([note(0, "We read about Compass today."), said])) == []


def test_what_a_source_decides_about_has_its_page_with_the_second() -> None:
    decided = note(0, "We decided on Switchyard for the flags, because it works offline.")
    said = note(1, "The price of Switchyard went up again.")
    assert titles(compiled([decided, said]), "entity") == ["Switchyard"]


def test_two_names_are_one_where_a_source_has_that_title() -> None:
    book = note(0, "Essays on islands. Gneiss is explained well.", title="Stone and Tide")
    others = [note(n, f"We talked of Stone and Tide {when}.") for n, when in enumerate(("again", "once", "at last"), 1)]
    assert titles(compiled([book, *others])) == ["Stone and Tide"]
    days = enumerate(("today", "again", "once more"))
    birds = [note(n, f"We looked for Ravel and Kestrel {when}. Then only Kestrel was left.") for n, when in days]
    assert titles(compiled(birds)) == ["Kestrel"]
