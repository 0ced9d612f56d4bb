"""The same sources earn the same names their pages, in any order and in batches of any size."""

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.compiler.judged import JudgedWiki, wikis
from benchmarks.compiler.judging import drafts
from benchmarks.planner.memory import MemoryWiki
from benchmarks.planner.scopes import JOURNALS, journal
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.extraction.reading_cache import CACHE
from compiler.planner import Knowledge, Plan, SectionTask, SourceText
from tests.compiler.extraction.stories import TRIP, compiled, leading_names, note, notes

ROOT = Path(__file__).parents[3]
PIECES = st.sampled_from(
    ["Tea with Marguerite.", "Marguerite came by.", "Then Bertrand slept.", "The Kestrel sank.",
     "We saw the Kestrel again.", "It rained.", "Later Bertrand and Marguerite talked.",
     "Nobody came to Ravensbourne.", "See [[Tide tables]]."]
)  # fmt: skip
STORIES = st.lists(st.tuples(st.lists(PIECES, min_size=1, max_size=3), st.integers(0, 60)), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(STORIES, st.randoms(use_true_random=False), st.integers(1, 5))
def test_order_and_batches_do_not_matter(texts: list[tuple[list[str], int]], chance: random.Random, batch: int) -> None:
    sources = [note(n, " ".join(pieces), day=day) for n, (pieces, day) in enumerate(texts)]
    expected = leading_names(compiled(sources))
    shuffled = chance.sample(sources, len(sources))
    assert leading_names(compiled(shuffled, batch)) == expected


@settings(max_examples=40, deadline=None)
@given(STORIES, st.lists(st.integers(-4000, 4000), min_size=12, max_size=12))
def test_a_journal_imported_late_earns_the_same_names_as_a_live_one(
    texts: list[tuple[list[str], int]], days: list[int]
) -> None:
    live = [note(n, " ".join(pieces), day=n) for n, (pieces, _) in enumerate(texts)]
    old = [note(n, " ".join(pieces), day=days[n]) for n, (pieces, _) in enumerate(texts)]
    assert leading_names(compiled(old)) == leading_names(compiled(live, 1))


def test_a_trip_in_any_order_and_batches_earns_the_same_names() -> None:
    expected = compiled(TRIP)
    rng = random.Random(5)
    for batch in (1, 2, 3, 8):
        wiki = compiled(rng.sample(TRIP, len(TRIP)), batch)
        assert leading_names(wiki) == leading_names(expected)
        assert len(wiki.all) == len(expected.all)


def test_journals_in_any_order_earn_the_same_names() -> None:
    rng = random.Random(7)
    for path in sorted(JOURNALS.glob("*.jsonl")):
        sources = list(journal(path).sources)
        expected = leading_names(compiled(sources))
        assert leading_names(compiled(rng.sample(sources, len(sources)), 4)) == expected, path.stem


@pytest.mark.parametrize("wiki", wikis(), ids=lambda wiki: wiki.name)
def test_each_judged_wiki_has_the_same_pages_in_any_order_and_batches(wiki: JudgedWiki) -> None:
    numbers = enumerate(drafts(wiki))
    sources = [
        note(n, draft.content, title=draft.title, ref=draft.ref, **(draft.metadata or {})) for n, draft in numbers
    ]
    expected = compiled(sources, 500)
    rng = random.Random(f"{wiki.name}0")
    for batch in (1, 3, 7):
        assert have_same_pages(compiled(rng.sample(sources, len(sources)), batch), expected), batch


def have_same_pages(wiki: MemoryWiki, other: MemoryWiki) -> bool:
    """Return whether each page of a wiki shares a name with exactly one page of the other, and both have as many."""
    found = [{id for alias in page.card.aliases for id in other.by_alias.get(alias, ())} for page in wiki.all]
    return all(len(ids) == 1 for ids in found) and len(set.union(*found)) == len(other.all)


@pytest.mark.parametrize("batch", [1, 2, 50])
def test_a_rare_word_stands_for_the_only_name_that_begins_with_it(batch: int) -> None:
    texts = [
        "The pool of Corrigan Freight is full.",
        "Corrigan is cross.",
        "A mail by Corrigan.",
        "Corrigan moves over.",
    ]
    for order in (texts, texts[::-1]):
        wiki = compiled(notes(*order, "The export of Corrigan Freight ran."), batch)
        assert leading_names(wiki) == {"corrigan", "corrigan freight"}
        assert len(wiki.all) == 1


@pytest.mark.parametrize("batch", [1, 50])
def test_a_plural_that_begins_a_longer_name_does_not_lead_that_name_to_the_singular(batch: int) -> None:
    texts = [
        "Mit [[Rainer]] den Zaun gezogen.",
        "[[Rainer]] holt das Holz.",
        "Die Säge hat [[Rainer]].",
        "Sie meint, Rainers Stelle wird nachbesetzt.",
        "Dr. Wessels telefoniert wegen Rainers Stelle.",
    ]
    wiki = compiled(notes(*texts), batch)
    assert {page.card.title: page.card.aliases for page in wiki.all} == {
        "Rainer": {"rainer", "rainers"},
        "Rainers Stelle": {"rainers stelle"},
    }


def test_later_sources_never_remove_a_name() -> None:
    earlier_names: set[str] = set()
    for count in range(1, len(TRIP) + 1):
        names = leading_names(compiled(TRIP[:count], 1))
        assert earlier_names <= names
        earlier_names = names


class Forgetful:
    """A planner and a writer that never use cached readings."""

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        forget_all()
        return await ExtractivePlanner().plan(sources, knowledge)

    async def write(self, task: SectionTask) -> str:
        forget_all()
        return await ExtractiveWriter().write(task)


def forget_all() -> None:
    for id in list(CACHE.cached):
        CACHE.forget(id)


@settings(max_examples=30, deadline=None)
@given(STORIES, st.integers(1, 5))
def test_cached_readings_give_the_same_pages_as_fresh_readings(texts: list[tuple[list[str], int]], batch: int) -> None:
    sources = [*TRIP, *(note(100 + n, " ".join(pieces), day=day) for n, (pieces, day) in enumerate(texts))]
    anew = MemoryWiki(Forgetful(), Forgetful())
    asyncio.run(anew.compile(sources, batch))
    assert [page.markdown() for page in anew.all] == [page.markdown() for page in compiled(sources, batch).all]


def test_pages_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import json; from tests.compiler.extraction.stories import *; wiki = compiled(TRIP);"
        "print(json.dumps([page.markdown() for page in wiki.all]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
    assert json.loads(outputs.pop()) == [page.markdown() for page in compiled(TRIP).all]
