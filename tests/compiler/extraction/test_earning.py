"""The evidence that earns a name its page, and what falls just short of it."""

import pytest

from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import compiled, note, story, titles

LONG = "It rained. We stayed inside, and nobody said much about it. " * 10


def test_a_name_of_several_words_or_of_somebody_has_its_page_with_the_second_note() -> None:
    for said in ("We met at Hospital Santa Clara.", "Tea with Marguerite in the garden."):
        assert len(titles(compiled(story(said, f"Late again. {said}")), "entity")) == 1
        assert titles(compiled(story(said, "Late again."))) == []
    assert titles(compiled(story("We sailed on the Falcon.", "Late again. The Falcon sank."))) == []


def test_a_word_that_texts_hardly_ever_say_has_its_page_with_the_second_note() -> None:
    assert titles(compiled(story("We sailed on the Kestrel.", "Late again. The Kestrel sank."))) == ["Kestrel"]
    assert titles(compiled(story("We sailed to Roscoff.", "Late again. The train from Roscoff."))) == [], "passing by"


def test_what_tables_link_counts_as_what_sentences_link() -> None:
    told, table = "See [[Jellyfin]] for it.", "| id | what |\n|---|---|\n| 3 | [[Jellyfin\\|media]] |\n"
    assert titles(compiled(story(told, f"{told} Again.", table))) == ["Jellyfin"]
    assert titles(compiled(story(told, f"{told} Again.", f"```\n{table}```\n"))) == []


def test_a_code_beside_a_name_does_not_make_it_a_name_of_several_words() -> None:
    said = "They print on the Zebra ZD421."
    assert titles(compiled(story(said, f"Late again. {said}"))) == []
    assert titles(compiled(story(said, f"Late again. {said}", f"And so on. {said}"))) == ["Zebra ZD421"]


def test_what_one_note_is_about_has_its_page_with_a_second_that_says_its_noun() -> None:
    about, said = "The heat pump is broken. Nobody sleeps.", "Late again. We called about the heat pump."
    assert titles(compiled(story(about, said)), "topic") == ["Heat pump"]
    assert titles(compiled(story(about, "Late again."))) == []
    assert titles(compiled(story(said, said, said, said, said))) == [], "none is about it"


@pytest.mark.parametrize("around", [LONG, "See [[Radiators]]."])
def test_long_sources_and_those_that_link_by_hand_count_once_each(around: str) -> None:
    said = [f"We met at Hospital Santa Clara. {around} {n}" for n in range(3)]
    assert "Hospital Santa Clara" not in titles(compiled(story(*said[:2])))
    assert "Hospital Santa Clara" in titles(compiled(story(*said)))


def test_what_a_long_source_repeats_is_not_what_it_is_about() -> None:
    said = [f"The heat pump is broken. We called about the heat pump. {LONG} {n}" for n in range(3)]
    assert "Heat pump" not in titles(compiled(story(*said[:2])))
    assert "Heat pump" in titles(compiled(story(*said)))


def test_the_entries_of_a_file_of_several_days_are_short_notes() -> None:
    days = [f"## {day} March 2026\n\nIt rained. We stayed in. Nobody came. So we slept.\n" for day in range(1, 9)]
    reading = Reading(note(0, "\n".join([*days, "We met at Hospital Santa Clara."])))
    assert reading.sightings["hospital santa clara"].is_brief


def test_a_subject_of_every_title_is_the_kind_of_the_notes_but_not_one_that_others_are_about() -> None:
    titled = ("Heritage grant and roof", "Heritage grant, again", "Heritage grant or not")
    series = [note(n, "Nothing new.", title=title) for n, title in enumerate(titled)]
    assert "Heritage grant" not in titles(compiled(series))
    said = note(3, "The heritage grant was refused. Nobody knows why.")
    assert "Heritage grant" in titles(compiled([*series, said]))


def test_a_part_of_a_name_is_no_name_by_itself() -> None:
    texts = ["We sang Harvest Moon.", "Harvest Moon again.", "Nobody knows Harvest Moon."]
    decided = "We decided to drop Harvest Moon, because it is too slow."
    assert titles(compiled(story(*texts, decided)), "entity") == ["Harvest Moon"]


def test_two_short_notes_earn_a_page_to_a_person_a_rare_name_or_a_name_of_several_words() -> None:
    for said in ("Tea with {}. Late again.", "We met at {}."):
        assert titles(compiled(story(said.format("Hospital Santa Clara"), "Hospital Santa Clara is far.", ""))) != []
    assert titles(compiled(story("Tea with Daisy.", "Daisy came by."))) == ["Daisy"]
    assert titles(compiled(story("We saw the Falcon.", "We saw the Falcon again."))) == []


def test_two_short_notes_earn_a_page_to_a_name_that_is_the_subject_of_one() -> None:
    assert titles(compiled(story("We ordered a Coral.", "Coral arrived."))) == ["Coral"]
    assert titles(compiled(story("Coral arrived.", "Coral works."))) == [], "it may be an ordinary word"
    german = ("Wir haben einen Zaun bestellt und er ist da.", "Zaun ist da, und wir freuen uns.")
    assert titles(compiled(story(*german))) == [], "nouns have capitals"


def test_a_code_of_four_notes_is_a_name() -> None:
    notes = ("H3 is calm.", "Feed H3 today.", "Nothing in H3.", "H3: 6 frames.")
    assert titles(compiled(story(*notes))) == ["H3"]
    assert titles(compiled(story(*notes[:3]))) == []
    assert titles(compiled(story(*(text.replace("H3", "Q3") for text in notes)))) == [], "a quarter of a year"


def test_a_quoted_name_has_its_page_with_two_short_notes_that_contain_it() -> None:
    notes = ("They call it “harvest moon”.", "Nobody sang harvest moon.", "They hummed harvest moon all day.")
    assert titles(compiled(story(*notes))) == ["Harvest moon"]
    assert titles(compiled(story(*notes[:2]))) == []


def test_a_word_with_capitals_or_digits_inside_is_a_term() -> None:
    for term in ("eDNA", "k3s"):
        notes = (f"Tom wants {term}.", f"No money for {term}.", f"Why not {term} now?")
        assert [title.lower() for title in titles(compiled(story(*notes)))] == [term.lower()]


def test_an_author_is_cited_with_different_years() -> None:
    notes = (
        "In the paper of Hallström 2016 are the data that we need.",
        "We repeat what was done by Hallström 2016 with other plants.",
        "All of this is against Hallström 2022 and what they say there.",
    )
    assert "Hallström" in titles(compiled(story(*notes)))


def test_a_ship_has_its_name_without_the_letters_before_it() -> None:
    notes = ("We sailed on R/V Tobis.", "The crew of R/V Tobis is small.", "No place on R/V Tobis.")
    assert titles(compiled(story(*notes))) == ["Tobis"]


def test_a_french_noun_with_an_elided_complement_is_one_noun() -> None:
    told = "On a vu la salle d'attente, et il y avait du monde."
    notes = (told, "Personne dans la salle d'attente ce matin.", "Il dort dans la salle d'attente.")
    assert titles(compiled(story(*notes))) == ["Salle d'attente"]
