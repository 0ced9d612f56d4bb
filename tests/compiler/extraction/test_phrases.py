"""Looking up the names of a wiki in a text finds the same as looking up the phrases of the text in the wiki."""

import asyncio
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.extraction import ExtractivePlanner, planner
from compiler.extraction.names.phrases import NameIndex, phrases
from compiler.extraction.readings import Reading
from compiler.extraction.texts.text import padded
from content.names import normalise
from tests.compiler.extraction.stories import TRIP, compiled, note

WORDS = [
    "Marguerite",
    "the Kestrel",
    "of",
    "Sofia's",
    "l'Île",
    "tide",
    "tables",
    "翠湖公园",
    "王小明",
    "上野",
    "x-ray",
    "St. Ives",
]
TEXTS = st.lists(st.sampled_from([*WORDS, "and", ".", ",", "散步", "\n"]), max_size=14).map(" ".join)
NAMES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), max_size=6)


@settings(max_examples=200, deadline=None)
@given(TEXTS, NAMES)
def test_the_name_index_finds_the_names_that_phrases_find(text: str, names: list[str]) -> None:
    reading, wanted = Reading(note(0, text)), set(filter(None, map(normalise, names)))
    found = NameIndex(wanted).names_in(reading)
    said = {name for name in wanted if padded(name) in reading.words}
    assert found >= phrases(reading) & said
    assert found <= said


def test_a_wiki_with_too_many_names_to_compare_gets_the_same_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [page.markdown() for page in compiled(TRIP, 2).all]
    for limit in (0, 40):
        monkeypatch.setattr(planner, "NAMES_MAX", limit)
        assert [page.markdown() for page in compiled(TRIP, 2).all] == expected


def test_planning_memory_is_a_small_multiple_of_the_text() -> None:
    """Every run of Chinese characters could be a name, and a plan must not hold all of them in memory."""
    text = "".join(f"今天和王小明去翠湖公园第{n}次散步，我们看见许多白色的水鸟从湖面上飞过。" for n in range(60))
    posts = [note(n, f"{text}{n}") for n in range(40)]
    wiki = compiled(posts[:1])
    tracemalloc.start()
    asyncio.run(ExtractivePlanner().plan(posts[1:], wiki))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * sum(len(post.content) for post in posts)
