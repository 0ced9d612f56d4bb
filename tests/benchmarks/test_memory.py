"""The benchmark of memory: its corrections are what they say, its scores are right, conversations are read whole."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memory import compiled
from benchmarks.memory.conversations import combined, read, read_all
from benchmarks.memory.corrections import OVERRIDES, Outcome, cases
from benchmarks.memory.newer import STATED, position_of, sessions
from benchmarks.memory.peers import Dense
from benchmarks.memory.recall import ranked
from benchmarks.memory.scores import Ranked, by_kind, interval, score
from benchmarks.memory.service import Hit
from benchmarks.search.collection import NoCollections


def test_the_same_seed_gives_the_same_corrections_to_the_byte() -> None:
    made = [repr(cases()).encode() for _ in range(2)]
    assert made[0] == made[1] != repr(cases(seed=19)).encode()
    assert sha256(made[0]).hexdigest().startswith("9376315b68f1"), "corrections that were measured are others now"


def test_half_of_the_corrections_are_held_out_with_their_ways_of_saying_it() -> None:
    made = cases()
    assert len(made) >= 300
    shares = {Outcome.OVERRIDES: 100, Outcome.ADDS: 50, Outcome.UNRELATED: 50}
    for held_out in (True, False):
        assert Counter(one.outcome for one in made if one.held_out is held_out) == shares
    held, seen = ({one.way for one in made if one.held_out is flag} for flag in (True, False))
    assert not held & seen
    assert len((held | seen) & set(OVERRIDES)) == len(OVERRIDES)


@given(st.integers(0, 10_000), st.integers(8, 400))
def test_every_statement_is_whole_and_says_what_its_outcome_is(seed: int, count: int) -> None:
    made = cases(seed, count)
    assert len({one.subject for one in made}) == len(made) == count
    for one in made:
        assert not set("{}") & set(one.earlier + one.later + one.question), one
        assert one.subject in one.earlier
        assert one.subject in one.question
        assert one.earlier != one.later
        if one.outcome is not Outcome.UNRELATED:
            assert one.subject in one.later, one


def test_a_correction_is_said_some_weeks_after_what_it_corrects() -> None:
    one = cases()[0]
    earlier, later = sessions(one)
    assert later.captured_at > earlier.captured_at
    for session, statement in ((earlier, one.earlier), (later, one.later)):
        assert session.content.split("\n")[STATED - 1].endswith(statement)
    assert position_of([Hit(later.ref, 1, 1), Hit(earlier.ref, 3, 3), Hit(later.ref, 3, 4)], later.ref) == 2
    assert position_of([Hit(later.ref, 1, 1)], later.ref) is None


def test_scores_count_all_that_was_judged() -> None:
    one = score(Ranked(["b", "a", "c"], ["b:2", "a:1"]), ["a", "d"], ["a:1", "d:1", "d:2", "d:3"])
    assert (one.turns10, one.sessions5, one.sessions10, one.hit1, one.mrr) == (0.25, 0.5, 0.5, 0.0, 0.5)
    assert score(Ranked([], []), ["a"], ["a:1"]).mrr == 0
    means = by_kind([("temporal", one), ("multi-hop", score(Ranked(["a"], []), ["a"], ["a:1"]))])
    assert [means[kind]["hit1"].count for kind in ("all", "temporal", "multi-hop")] == [2, 1, 1]
    assert means["all"]["mrr"].mean == 0.75


def test_the_interval_of_a_share_is_wilsons() -> None:
    half = interval([0.0, 1.0] * 50)
    assert (round(half.low, 3), round(half.high, 3)) == (0.404, 0.596)
    assert str(interval([1.0] * 10)) == "1.000 [0.722–1.000]"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200))
def test_an_interval_holds_its_mean_and_stays_a_share(values: list[float]) -> None:
    found = interval(values)
    assert 0 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1


def test_what_pages_keep_is_a_share_of_what_raw_search_finds() -> None:
    some = [
        compiled.Answer("any", 4, 2, 3, 1, 1, 5, 10, 6, 4, 100),
        compiled.Answer("any", 1, 0, 1, 0, 0, 1, 30, 8, 4, 100),
    ]
    found = compiled.figures_of(some)
    assert (found.kept.mean, found.kept.count, found.raw.mean, found.cited.mean) == (0.5, 1, 0.25, 0.875)
    assert (found.cited_by_lines.mean, found.cited_by_lines.count) == (0.5, 1)
    assert (found.sources, found.ratio, found.line_ratio) == (3, 0.2, 0.07)


def test_a_hit_is_the_turn_that_its_lines_belong_to() -> None:
    turns = {"s1": ("t1", "t2", "t2"), "s2": ("u1",)}
    hits = [Hit("s1", 3, 3), Hit("s2", 1, 1), Hit("s1", 2, 2), Hit("s1", 1, 1)]
    assert ranked(turns, hits) == Ranked(["s1", "s2"], ["t2", "u1", "t1"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two conversations of a session each; one turn has two lines."""
    for name in ("one", "two"):
        texts = [f"Ada: {name}?", "Bruno: Yes.\nAnd no."]
        turns = [{"id": f"{name}-t{n}", "session": f"{name}-s", "text": text} for n, text in enumerate(texts)]
        write(tmp_path / name / "turns.jsonl.gz", turns)
        source = {"ref": f"{name}-s", "content": "\n".join(texts), "captured_at": "2025-03-04T10:00:00Z"}
        write(tmp_path / name / "sources.jsonl.gz", [source])
        write(tmp_path / name / "docs.jsonl.gz", [{"id": f"{name}-s", "title": name, "text": "\n\n".join(texts)}])
        queries = [{"id": f"{name}-q{n}", "text": "Yes?", "kind": "temporal"} for n in range(2)]
        write(tmp_path / name / "queries.jsonl.gz", queries)
        for file, document in (("qrels", f"{name}-s"), ("qrels_turns", f"{name}-t1")):
            (tmp_path / name / f"{file}.tsv.gz").write_bytes(gzip.compress(f"{name}-q0\t{document}\t1\n".encode()))
    return tmp_path


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def test_a_conversation_knows_whose_each_line_is(folder: Path) -> None:
    one, two = read_all(folder, [])
    assert one.sources[0].turns == ("one-t0", "one-t1", "one-t1")
    assert [query.id for query in one.queries] == ["one-q0"], "a question without evidence is not asked"
    both = combined([one, two])
    assert [source.ref for source in both.sources] == ["one-s", "two-s"]
    assert both.turns.judged == {"one-q0": {"one-t1": 1}, "two-q0": {"two-t1": 1}}


def test_what_is_not_there_or_does_not_fit_together_is_said(folder: Path) -> None:
    with pytest.raises(NoCollections, match="has no three"):
        read_all(folder, ["three"])
    with pytest.raises(NoCollections, match="--data FOLDER"):
        read_all(folder / "one", [])
    write(folder / "one" / "turns.jsonl.gz", [{"id": "one-t0", "session": "one-s", "text": "Ada: other"}])
    with pytest.raises(NoCollections, match="one-s is not made of the turns"):
        read(folder / "one")


class Embeddings(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol, in another order than asked: how often a text has `a` and `e`, and a little of all."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = [
            {"index": place, "embedding": [text.count("a"), text.count("e"), 0.1]}
            for place, text in enumerate(asked["input"])
        ]
        body = json.dumps({"data": found[::-1], "model": asked["model"]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def embeddings() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Embeddings)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_vectors_of_a_server_rank_sessions_and_turns(folder: Path, embeddings: str) -> None:
    pytest.importorskip("numpy", reason="comes with the extra benchmarks")
    both = combined(read_all(folder, []))
    dense = Dense(embeddings, "letters")
    found = dense(both)("Yes?")
    dense.client.close()
    assert sorted(found.sessions) == ["one-s", "two-s"]
    assert found.turns[:2] == ["one-t1", "two-t1"], "those with `e` and without `a`, as the question"
    assert len(found.turns) == 4
