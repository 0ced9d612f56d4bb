"""Short notes that contain a name without a mark count once other notes show that the name is one."""

import asyncio
import random
from dataclasses import replace

import pytest

from tests.compiler.extraction.stories import compiled, note, notes, page, refs, titles

ABOUT = "Lime plaster is soft."
PLAIN = ["He says that lime plaster breathes.", "Nobody sells good lime plaster here anymore, they say."]
LONG = " ".join(f"On day {n} it was cold and we wrote nothing of note." for n in range(20))
HEADING = "About Falcon Crews And Other Falcon People Here"  # capitals mean nothing in it
NOUNS = ["The cup is on the lipase.", "We walked to the lipase.", "No more lipase today.", "It smells of old lipase."]


def page_titles(*texts: str, batch: int = 50) -> list[str]:
    """Return the titles of the pages that notes with these texts earn."""
    return titles(compiled(notes(*texts), batch))


def test_a_subject_earns_a_page_with_two_more_notes_that_contain_it() -> None:
    assert page_titles(ABOUT, *PLAIN) == ["Lime plaster"]
    assert page_titles(ABOUT, PLAIN[0]) == []
    assert page_titles(*PLAIN) == []


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_plain_notes_count_before_and_after_the_note_about_the_subject(batch: int) -> None:
    sources = notes(ABOUT, *PLAIN)
    for seed in range(4):
        shuffled = random.Random(seed).sample(sources, len(sources))
        assert titles(compiled(shuffled, batch)) == ["Lime plaster"]


def test_a_new_topic_page_cites_the_earlier_plain_notes() -> None:
    wiki = compiled([*notes(*PLAIN), note(7, ABOUT)], 1)
    cited = {id for section in page(wiki, "Lime plaster").sections.values() for id in section.source_ids}
    assert set(refs(wiki, cited)) == {"n0", "n1", "n7"}


def test_a_new_page_cites_earlier_notes_that_contain_its_name() -> None:
    wiki = compiled([note(0, HEADING), *(note(n, "We saw the Falcon in the harbour.") for n in range(1, 4))], 1)
    assert "n0" in refs(wiki, page(wiki, "Falcon").sections["notes"].source_ids)


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param(LONG + PLAIN[0], id="a long note"),
        pytest.param(PLAIN[0] + " See [[Sand]], [[Clay]] and [[Chalk]].", id="a note with links"),
        pytest.param("He says that lime plasters breathe, and limes and plaster.", id="other words"),
        pytest.param("The Lime Plaster Guild has met. I wrote to the Lime Plaster Guild.", id="a longer name"),
    ],
)
def test_long_or_linking_notes_and_near_matches_are_no_evidence(plain: str) -> None:
    assert "Lime plaster" not in page_titles(ABOUT, plain, plain)


def test_a_one_word_name_counts_only_with_its_capital() -> None:
    named = ["We saw the Falcon in the harbour.", "Off to see the Falcon again."]
    assert page_titles(*named, "He says that falcon hunts at night.") == []
    assert page_titles(*named, HEADING) == ["Falcon"]


def test_an_ignored_name_earns_no_page() -> None:
    wiki = compiled(notes(ABOUT))
    wiki.held["lime plaster"] = replace(wiki.held["lime plaster"], status="ignored")
    asyncio.run(wiki.compile([note(7, PLAIN[0]), note(8, PLAIN[1])]))
    assert titles(wiki) == []


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_a_rare_noun_earns_a_page_with_four_short_notes(batch: int) -> None:
    assert page_titles(*NOUNS, batch=batch) == ["Lipase"]
    assert page_titles(*reversed(NOUNS), batch=batch) == ["Lipase"]
    assert page_titles(*NOUNS[:3], batch=batch) == []
    assert page_titles(*NOUNS[1:], batch=batch) == []


def test_a_common_noun_earns_no_page() -> None:
    assert page_titles(*(text.replace("lipase", "corner") for text in NOUNS)) == []


def test_a_noun_of_two_words_needs_three_notes() -> None:
    texts = [
        "Later in the courier app.",
        "Someone broke our courier app again.",
        "He says that courier app loses orders.",
    ]
    assert page_titles(*texts) == ["Courier app"]
    assert page_titles(*texts[:2]) == []
