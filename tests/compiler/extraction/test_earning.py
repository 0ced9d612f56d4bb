"""A name earns its page with enough evidence, and gets none with slightly less."""

from collections import Counter

import pytest

from compiler.extraction.readings import Reading
from compiler.extraction.standing import earned_type
from compiler.extraction.tallies import Tally
from tests.compiler.extraction.stories import compiled, note, notes, titles

LONG = "It rained. We stayed inside, and nobody said much about it. " * 10


def test_multiword_names_and_people_get_a_page_with_the_second_note() -> None:
    for text in ("We met at Hospital Santa Clara.", "Tea with Marguerite in the garden."):
        assert len(titles(compiled(notes(text, f"Late again. {text}")), "entity")) == 1
        assert titles(compiled(notes(text, "Late again."))) == []
    assert titles(compiled(notes("We sailed on the Falcon.", "Late again. The Falcon sank."))) == []


def test_a_rare_word_gets_a_page_with_the_second_note() -> None:
    assert titles(compiled(notes("We sailed on the Kestrel.", "Late again. The Kestrel sank."))) == ["Kestrel"]
    assert titles(compiled(notes("We sailed to Roscoff.", "Late again. The train from Roscoff."))) == [], "passing by"


def test_links_in_tables_count_like_links_in_sentences() -> None:
    sentence, table = "See [[Jellyfin]] for it.", "| id | what |\n|---|---|\n| 3 | [[Jellyfin\\|media]] |\n"
    assert titles(compiled(notes(sentence, f"{sentence} Again.", table))) == ["Jellyfin"]
    assert titles(compiled(notes(sentence, f"{sentence} Again.", f"```\n{table}```\n"))) == []


def test_a_name_with_a_model_code_is_no_multiword_name() -> None:
    text = "They print on the Zebra ZD421."
    assert titles(compiled(notes(text, f"Late again. {text}"))) == []
    assert titles(compiled(notes(text, f"Late again. {text}", f"And so on. {text}"))) == ["Zebra ZD421"]


def test_the_subject_of_one_note_gets_a_page_when_a_second_contains_it() -> None:
    about, mention = "The heat pump is broken. Nobody sleeps.", "Late again. We called about the heat pump."
    assert titles(compiled(notes(about, mention)), "topic") == ["Heat pump"]
    assert titles(compiled(notes(about, "Late again."))) == []
    assert titles(compiled(notes(mention, mention, mention, mention, mention))) == [], "none is about it"


@pytest.mark.parametrize("around", [LONG, "See [[Radiators]]."])
def test_names_in_long_or_linking_sources_need_three_sources(around: str) -> None:
    texts = [f"We met at Hospital Santa Clara. {around} {n}" for n in range(3)]
    assert "Hospital Santa Clara" not in titles(compiled(notes(*texts[:2])))
    assert "Hospital Santa Clara" in titles(compiled(notes(*texts)))


def test_a_noun_repeated_in_long_sources_needs_three_sources() -> None:
    texts = [f"The heat pump is broken. We called about the heat pump. {LONG} {n}" for n in range(3)]
    assert "Heat pump" not in titles(compiled(notes(*texts[:2])))
    assert "Heat pump" in titles(compiled(notes(*texts)))


def test_entries_of_a_file_with_several_days_count_as_short_notes() -> None:
    days = [f"## {day} March 2026\n\nIt rained. We stayed in. Nobody came. So we slept.\n" for day in range(1, 9)]
    reading = Reading(note(0, "\n".join([*days, "We met at Hospital Santa Clara."])))
    assert reading.sightings["hospital santa clara"].is_brief


def test_a_noun_only_in_titles_gets_a_page_once_a_text_is_about_it() -> None:
    note_titles = ("Heritage grant and roof", "Heritage grant, again", "Heritage grant or not")
    series = [note(n, "Nothing new.", title=title) for n, title in enumerate(note_titles)]
    assert "Heritage grant" not in titles(compiled(series))
    about = note(3, "The heritage grant was refused. Nobody knows why.")
    assert "Heritage grant" in titles(compiled([*series, about]))


def test_a_part_of_a_longer_name_gets_no_page_of_its_own() -> None:
    texts = ["We sang Harvest Moon.", "Harvest Moon again.", "Nobody knows Harvest Moon."]
    decision = "We decided to drop Harvest Moon, because it is too slow."
    assert titles(compiled(notes(*texts, decision)), "entity") == ["Harvest Moon"]


def test_two_short_notes_earn_people_and_multiword_names_a_page() -> None:
    named = notes("We met at Hospital Santa Clara.", "Hospital Santa Clara is far.")
    assert titles(compiled(named)) == ["Hospital Santa Clara"]
    assert titles(compiled(named[:1])) == []
    assert titles(compiled(notes("Tea with Daisy.", "Daisy came by."))) == ["Daisy"]
    assert titles(compiled(notes("We saw the Falcon.", "We saw the Falcon again."))) == []


def test_a_name_as_sentence_subject_earns_a_page_with_two_short_notes() -> None:
    assert titles(compiled(notes("We ordered a Coral.", "Coral arrived."))) == ["Coral"]
    assert titles(compiled(notes("Coral arrived.", "Coral works."))) == [], "it may be an ordinary word"
    german = ("Wir haben einen Zaun bestellt und er ist da.", "Zaun ist da, und wir freuen uns.")
    assert titles(compiled(notes(*german))) == [], "nouns have capitals"


def test_a_code_in_four_notes_is_a_name() -> None:
    texts = ("H3 is calm.", "Feed H3 today.", "Nothing in H3.", "H3: 6 frames.")
    assert titles(compiled(notes(*texts))) == ["H3"]
    assert titles(compiled(notes(*texts[:3]))) == []
    assert titles(compiled(notes(*(text.replace("H3", "Q3") for text in texts)))) == [], "a quarter of a year"


def test_a_quoted_name_earns_a_page_with_two_more_notes_that_contain_it() -> None:
    texts = ("They call it “harvest moon”.", "Nobody sang harvest moon.", "They hummed harvest moon all day.")
    assert titles(compiled(notes(*texts))) == ["Harvest moon"]
    assert titles(compiled(notes(*texts[:2]))) == []


def test_a_word_with_capitals_or_digits_inside_is_a_term() -> None:
    for term in ("eDNA", "k3s"):
        texts = (f"Tom wants {term}.", f"No money for {term}.", f"Why not {term} now?")
        assert [title.lower() for title in titles(compiled(notes(*texts)))] == [term.lower()]


def test_an_author_cited_with_different_years_is_one_name() -> None:
    texts = (
        "In the paper of Hallström 2016 are the data that we need.",
        "We repeat what was done by Hallström 2016 with other plants.",
        "All of this is against Hallström 2022 and what they say there.",
    )
    assert "Hallström" in titles(compiled(notes(*texts)))


def test_a_ship_is_named_without_its_prefix() -> None:
    texts = ("We sailed on R/V Tobis.", "The crew of R/V Tobis is small.", "No place on R/V Tobis.")
    assert titles(compiled(notes(*texts))) == ["Tobis"]


def test_a_french_noun_with_an_elided_complement_is_one_noun() -> None:
    first = "On a vu la salle d'attente, et il y avait du monde."
    texts = (first, "Personne dans la salle d'attente ce matin.", "Il dort dans la salle d'attente.")
    assert titles(compiled(notes(*texts))) == ["Salle d'attente"]


@pytest.mark.parametrize("longer", [1, 2, 5])
def test_sources_with_a_longer_name_take_no_page_from_a_rare_word(longer: int) -> None:
    alone = Counter({"about": 1, "name": 1, "rare": 2, "subject": 1})
    parts = Counter({"part": longer, "only part": longer, "rare": longer})
    tally = Tally(alone + parts, 2 + longer, 2.0 + longer, 2 + longer, Counter({"Okanto": 2, "Okanto Mesh": longer}))
    assert earned_type("okanto", tally) == "entity"
