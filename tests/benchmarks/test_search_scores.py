"""Search collections are read with their judgements, and lists of documents get the standard scores."""

import gzip
import json
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.search import collection
from benchmarks.search.collection import Document, NoCollections
from benchmarks.search.goals import Goal
from benchmarks.search.quality import select_queries
from benchmarks.search.scores import Score, score, scores

IDS = st.sampled_from("abcdefghijklmnop")
JUDGED = st.dictionaries(IDS, st.integers(1, 3), min_size=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a collection with two documents and one judged query."""
    own = tmp_path / "wiki_de"
    own.mkdir()
    documents = [
        {"id": "a", "slug": "a", "title": "Straße", "text": "eins", "aliases": ["Weg"]},
        {"id": "b", "title": "Kanal", "text": "zwei"},
    ]
    queries = [{"id": "1", "text": "Kanal", "kind": "title"}, {"id": "2", "text": "nobody judged this"}]
    for name, rows in (("docs", documents), ("queries", queries)):
        with gzip.open(own / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    with gzip.open(own / "qrels.tsv.gz", "wt") as file:
        file.write("1\tb\t1\n")
    (tmp_path / "gibberish.txt").write_text("lzwxuqaoyhu\n\nfdlphm\n")
    return own


def test_ndcg_discounts_gains_by_the_logarithm_of_the_rank() -> None:
    found = score(["x", "b", "a"], {"a": 3, "b": 1})
    assert found.ndcg10 == pytest.approx((1 / log2(3) + 3 / log2(4)) / (3 + 1 / log2(3)))
    assert (found.recall10, found.success1) == (1, 0)


def test_repeated_documents_count_once_and_are_reported() -> None:
    assert score(["a", "a", "b"], {"b": 1}) == Score(ndcg10=1 / log2(3), recall10=1, repeated=1)


def test_documents_after_rank_ten_score_nothing() -> None:
    assert score([*"bcdefghijk", "a"], {"a": 1}) == Score()


@given(JUDGED)
def test_the_best_order_scores_one(judged: dict[str, int]) -> None:
    best = sorted(judged, key=lambda one: -judged[one])
    assert score(best, judged) == Score(ndcg10=pytest.approx(1), recall10=1, success1=1)


@given(st.lists(IDS), JUDGED)
def test_no_list_scores_more_than_the_best(results: list[str], judged: dict[str, int]) -> None:
    found = score(results, judged)
    assert all(0 <= getattr(found, name) <= 1 + 1e-9 for name in Score.__slots__)


def test_a_failed_search_scores_zero_and_counts_as_an_error(folder: Path) -> None:
    def search(text: str) -> list[str]:
        raise RuntimeError(text)

    assert scores(search, collection.read(folder), lambda: None)["title"] == Score(error=1)


def test_collections_add_queries_with_first_letter_typos_and_nonsense(folder: Path) -> None:
    found = collection.read(folder)
    (slip,) = found.kinds["typo_first"]
    assert slip.text[1:] == "anal"
    assert slip.text[0] != "K"
    assert found.judged[slip.id] == {"b": 1}
    assert [query.text for query in found.kinds["nonsense"]] == ["lzwxuqaoyhu", "fdlphm"]
    assert set(found.kinds) == {"title", "typo_first", "nonsense"}
    assert found.language == "german"


def test_results_for_nonsense_count_as_answered(folder: Path) -> None:
    found = scores(lambda text: ["a"] if text == "fdlphm" else [], collection.read(folder), lambda: None)
    assert found["nonsense"].answered == 0.5


def test_a_short_line_indented_by_one_space_becomes_a_heading() -> None:
    body = Document("a", "A", "Begin\n Usage\nText\n  indented\n and so it goes on " + "and on " * 9).body
    assert body.startswith("Begin\n\n## Usage\n\nText\n  indented\n and so")


def test_a_folder_without_collections_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoCollections, match="--data FOLDER"):
        list(collection.read_all(tmp_path, []))


def test_a_goal_is_undecided_until_all_its_collections_were_run() -> None:
    goal = Goal("title", 0.9, "title", "success1", ("one", "two"))
    assert goal.reached({"one": {"title": Score(success1=1)}}) is None
    assert goal.reached({"one": {"title": Score(success1=1)}, "two": {}}) == 1


def test_an_above_peers_goal_is_missed_when_a_peer_scores_the_same() -> None:
    goal = Goal("questions", 0.4, "topic", "ndcg10", above_peers=True)
    assert goal.is_met(0.5, [0.4])
    assert not goal.is_met(0.5, [0.5, 0.1])
    assert not goal.is_met(0.39, [])


def test_an_unknown_query_kind_is_refused_with_the_known_kinds() -> None:
    some = collection.Collection("some", [], [collection.Query("1", "austin", "title")], {})
    assert [one.queries for one in select_queries([some], ["title"], None)] == [some.queries]
    with pytest.raises(NoCollections, match=r"no queries of the kind titel\. There are title\."):
        select_queries([some], ["titel"], None)
