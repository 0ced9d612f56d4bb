"""The planner decides which names become pages, which are held, and which pages are linked."""

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
    notes,
    page,
    refs,
    titles,
)


def test_a_trip_compiles_to_its_entities_topics_and_decisions() -> None:
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


def test_a_name_is_held_until_more_sources_contain_it() -> None:
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
    assert "Bertrand" not in titles(compiled(notes(*[guests] * 5)))
    assert "Bertrand" in titles(compiled(notes(*[guests] * 6)))
    assert "Bertrand" in titles(compiled(notes(guests, guests, "Tea with Bertrand. Then Bertrand slept, Bertrand!")))


def test_a_held_name_stores_its_evidence_and_what_it_lacks() -> None:
    wiki = compiled(notes("We walked to the Daisy.", "They moved to the Daisy.", "Falcon sank."))
    standing = {key: (card.cluster["evidence"], card.cluster["lacks"]) for key, card in wiki.held.items()}
    assert standing["daisy"] == (1.5, "sources")
    assert standing["falcon"] == (0, "naming")


def test_evidence_stored_by_former_versions_still_counts() -> None:
    wiki = compiled(notes("We saw the Falcon.", "We saw the Falcon again."))
    held = wiki.held["falcon"]
    cluster = {"marks": {"name": 2}, "days": ["2019-04-01", "2021-04-02"], "forms": {"Falcon": 2}, "people": 0}
    wiki.held["falcon"] = replace(held, cluster=cluster)
    asyncio.run(wiki.compile([note(7, "We saw the Falcon at last.")]))
    assert titles(wiki) == ["Falcon"]


def test_a_source_that_is_planned_again_counts_once() -> None:
    wiki = compiled(notes("Tea with Marguerite."))
    for _ in range(4):
        asyncio.run(wiki.compile(notes("Tea with Marguerite.")))
    assert titles(wiki) == []
    assert len(wiki.held["marguerite"].source_ids) == 1


def test_planning_everything_again_changes_nothing() -> None:
    wiki = compiled(TRIP)
    before = [page.markdown() for page in wiki.all]
    asyncio.run(wiki.compile(TRIP))
    assert [page.markdown() for page in wiki.all] == before


def test_an_ignored_name_gets_no_page() -> None:
    wiki = compiled(notes("Tea with Marguerite."))
    held = wiki.held["marguerite"]
    wiki.held["marguerite"] = MentionCard(
        held.alias, held.name, "ignored", None, held.source_ids, held.seen_at, held.cluster
    )
    asyncio.run(wiki.compile([note(n, "Tea with Marguerite again.") for n in range(1, 6)]))
    assert titles(wiki) == []


def test_sources_of_a_name_recorded_by_hand_count_as_evidence() -> None:
    wiki = compiled([])
    earlier = [note(8, "…"), note(9, "…")]
    wiki.known.update({source.id: source for source in earlier})
    ids, seen = tuple(source.id for source in earlier), tuple(source.captured_at for source in earlier)
    wiki.held["marguerite"] = MentionCard("marguerite", "Marguerite", "open", "entity", ids, seen)
    asyncio.run(wiki.compile([note(10, "Tea with Marguerite in the garden.")]))
    assert titles(wiki) == ["Marguerite"]


def test_malformed_evidence_of_another_planner_is_ignored() -> None:
    wiki = compiled(notes("Tea with Marguerite."))
    held = wiki.held["marguerite"]
    malformed = {
        "marks": {"name": "many"},
        "days": ["soon", 7, None],
        "forms": [1],
        "people": "two",
        "co_mentions": {"a": {}},
    }
    wiki.held["marguerite"] = MentionCard(held.alias, held.name, "open", None, held.source_ids, held.seen_at, malformed)
    asyncio.run(wiki.compile([note(n, "Tea with Marguerite again.") for n in range(1, 4)]))
    assert titles(wiki) == ["Marguerite"]


def test_a_place_in_the_metadata_gets_a_page_at_once_with_its_tags() -> None:
    wiki = compiled(TRIP[:2])
    taberna = page(wiki, "Taberna dos Mercadores").card
    assert taberna.summary == "Taberna dos Mercadores is a tiny tavern in Alfama."
    assert taberna.tags == ("food",)


def test_a_place_and_its_city_are_linked_both_ways() -> None:
    wiki = compiled(TRIP)
    taberna, lisbon = page(wiki, "Taberna dos Mercadores").card.id, page(wiki, "Lisbon").card.id
    assert {(taberna, lisbon), (lisbon, taberna)} <= set(wiki.links)


def test_pages_named_in_one_sentence_are_linked_and_none_to_itself() -> None:
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


def test_a_first_name_is_an_alias_of_the_full_name() -> None:
    assert page(compiled(TRIP), "Priya Raman").card.aliases == {"priya", "priya raman"}


def test_two_people_with_one_first_name_get_separate_pages() -> None:
    texts = [f"Lunch with {name}." for name in ("Priya Raman", "Priya Shah") * 3]
    wiki = compiled(notes(*texts), batch=1)
    assert {"priya raman", "priya shah"} <= leading_names(wiki)
    assert page(wiki, "Priya Shah") is not page(wiki, "Priya Raman")


def test_a_city_has_its_common_short_names_as_aliases() -> None:
    assert page(compiled(TRIP), "Austin, Texas").card.aliases == {"austin", "austin texas", "atx"}


def test_a_part_of_a_place_name_that_its_note_uses_is_an_alias() -> None:
    wiki = compiled(
        [note(0, "Cold morning at Barton Springs.", place="Barton Springs Pool"), note(1, "Barton Springs with Nora.")]
    )
    assert "barton springs" in page(wiki, "Barton Springs Pool").card.aliases
    assert any(
        "n1" in refs(wiki, section.source_ids) for section in page(wiki, "Barton Springs Pool").sections.values()
    )


def test_an_existing_page_is_updated_by_a_source_that_names_it() -> None:
    card = PageCard(uuid5(NAMESPACE, "page"), "reference", "brisket", "Brisket", None, frozenset({"brisket"}))
    plan = asyncio.run(ExtractivePlanner().plan([note(0, "The brisket needs fourteen hours.")], OnePage(card)))
    assert [(update.page_id, update.sections[0].slug) for update in plan.updates] == [(card.id, "notes")]
    assert plan.new_pages == ()


class OnePage:
    """The knowledge of a wiki with one page."""

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


def test_a_later_definition_becomes_the_summary() -> None:
    wiki = compiled(TRIP[:1] + [note(n, "Chef João sent soup.") for n in range(1, 4)])
    assert page(wiki, "Chef João").card.summary == "Chef João sent soup."
    asyncio.run(wiki.compile([note(9, "Chef João is a cook from Alfama with a quiet kitchen.")]))
    assert page(wiki, "Chef João").card.summary == "Chef João is a cook from Alfama with a quiet kitchen."


def test_capitalised_common_words_get_no_page() -> None:
    texts = [
        "However, it rained. Dinner was late.",
        "However, the dinner was good. I'm tired.",
        "However, we slept. Monday is far.",
    ] * 3
    assert titles(compiled(notes(*texts))) == []


def test_german_nouns_are_no_names_but_people_are() -> None:
    texts = [
        "Im Garten mit Annika Wasser geholt. Die Erde war trocken.",
        "Annika hat Kuchen gebacken. Der Garten ist voller Schnecken.",
        "Mit Annika im Garten gesessen. Wasser ist knapp.",
        "Der Garten ruht. Annika sagt, die Erde sei müde.",
    ]
    assert titles(compiled(notes(*texts))) == ["Annika"]


def test_chinese_and_japanese_names_earn_pages_without_marks() -> None:
    chinese = notes("早上去翠湖公园跑步，遇到王小明。", "和王小明在翠湖公园跑了五公里。", "王小明说翠湖公园人太多。")
    assert {"王小明", "翠湖公园"} <= set(titles(compiled(chinese)))
    japanese = notes("田中さんと上野公園へ行った。", "上野公園で田中さんに会った。", "田中さんは上野公園が好きだ。")
    assert {"田中", "上野公園"} <= set(titles(compiled(japanese)))


def test_a_tag_of_three_notes_is_a_topic() -> None:
    wiki = compiled([note(n, f"Brisket number {n} took all night.", tags=["bbq"]) for n in range(3)])
    assert titles(wiki, "topic") == ["Bbq"]
    lines = [line for section in page(wiki, "Bbq").sections.values() for line in section.body.splitlines()]
    assert len(lines) == len(set(lines)) == 3


def test_metadata_of_any_shape_is_accepted() -> None:
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


def test_every_section_has_a_body_and_sources() -> None:
    wiki = compiled(TRIP)
    for written_page in wiki.all:
        assert written_page.sections
        for section in written_page.sections.values():
            assert section.source_ids
            assert section.body


def test_aliases_of_pages_are_normalised() -> None:
    for alias in leading_names(compiled(TRIP)):
        assert normalise(alias) == alias


def test_a_writer_without_sources_leaves_the_section_alone() -> None:
    from compiler.planner import SectionTask

    task = SectionTask("entity", "Uchi", frozenset({"uchi"}), "notes", "Notes", "Mine.", ())
    assert asyncio.run(ExtractiveWriter().write(task)) == "Mine."


def test_a_japanese_honorific_makes_no_second_page() -> None:
    wiki = compiled(notes(*["昼は田中さんと定食を食べた。"] * 3, person="田中さん"))
    assert [sorted(page(wiki, title).card.aliases) for title in titles(wiki, "entity")] == [["田中", "田中さん"]]


def test_a_thing_mentioned_like_a_person_has_no_first_name_alias() -> None:
    texts = ["Nightjar Sync was slow.", "We moved it, then Nightjar Sync broke.", "For now Nightjar Sync is off."]
    wiki = compiled(notes(*texts, "It was done with Nightjar Sync."))
    assert page(wiki, "Nightjar Sync").card.aliases == {"nightjar sync"}
    wiki = compiled(notes(*["Those web pages were saved with Web Clipper."] * 3))
    assert page(wiki, "Web Clipper").card.aliases == {"web clipper"}, "a first name is never lowercase"


def test_a_topic_is_summed_up_by_a_sentence_about_it() -> None:
    mention = "You can resize sidebars in the middle: sidebars are wide."
    wiki = compiled(
        notes(mention, "Sidebars hold the tabs.", "No, it only works when sidebars are open.", tags=["sidebars"])
    )
    assert page(wiki, "Sidebars").card.summary == "Sidebars hold the tabs."


def test_questions_and_labels_do_not_become_a_summary() -> None:
    labels = ["Have you seen Kestrel?", "Look at the Kestrel:", "Note: it is all in Kestrel now."]
    assert page(compiled(notes(*labels)), "Kestrel").card.summary is None
    wiki = compiled(notes(*labels, "Then came Kestrel"))
    assert page(wiki, "Kestrel").card.summary == "Then came Kestrel"


def test_a_topic_without_a_sentence_is_summarised_by_names_in_its_notes() -> None:
    texts = ["Long walk with Marco in Zilker Park.", "Lunch with Marco.", "It rained on Marco in Zilker Park."]
    wiki = compiled(notes(*texts, tags=["sport"]))
    assert page(wiki, "Sport").card.summary == "Marco, Zilker Park"


def test_a_city_is_introduced_by_a_sentence_that_names_it() -> None:
    texts = [
        "Somebody called about the boat.",
        "We walked through Lisbon until the lamps went on.",
        "It rained all day.",
    ]
    wiki = compiled(notes(*texts, city="Lisbon"))
    assert body(wiki, "Lisbon", "summary") == "- 2026-04-02: “We walked through Lisbon until the lamps went on.” [^n1]"


def test_two_sources_earn_a_page_if_one_is_titled_after_the_name() -> None:
    about = note(0, "It reads object files.", title="Writing Compass, a small linker")
    mention = note(1, "One of mine became the manual of Compass, after all.")
    assert titles(compiled([about, mention])) == ["Compass"]
    assert titles(compiled([note(0, "We read about Compass today."), mention])) == []


def test_the_object_of_a_decision_gets_a_page_with_a_second_source() -> None:
    decision = note(0, "We decided on Switchyard for the flags, because it works offline.")
    mention = note(1, "The price of Switchyard went up again.")
    assert titles(compiled([decision, mention]), "entity") == ["Switchyard"]


def test_two_joined_names_are_one_name_if_a_source_has_that_title() -> None:
    book = note(0, "Essays on islands. Gneiss is explained well.", title="Stone and Tide")
    rest = [note(n, f"We talked of Stone and Tide {when}.") for n, when in enumerate(("again", "once", "at last"), 1)]
    assert titles(compiled([book, *rest])) == ["Stone and Tide"]
    days = enumerate(("today", "again", "once more"))
    sightings = [note(n, f"We looked for Ravel and Kestrel {when}. Then only Kestrel was left.") for n, when in days]
    assert titles(compiled(sightings)) == ["Kestrel"]
