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
