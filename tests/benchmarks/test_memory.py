"""The memory benchmark generates consistent corrections, scores answers correctly and reads whole conversations."""

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


def test_the_same_seed_generates_identical_corrections() -> None:
    generated = [repr(cases()).encode() for _ in range(2)]
    assert generated[0] == generated[1] != repr(cases(seed=19)).encode()
    assert sha256(generated[0]).hexdigest().startswith("9376315b68f1"), "corrections that were measured are others now"


def test_half_of_the_corrections_and_their_phrasings_are_held_out() -> None:
    corrections = cases()
    assert len(corrections) >= 300
    shares = {Outcome.OVERRIDES: 100, Outcome.ADDS: 50, Outcome.UNRELATED: 50}
    for held_out in (True, False):
        assert Counter(correction.outcome for correction in corrections if correction.held_out is held_out) == shares
    held, seen = (
        {correction.way for correction in corrections if correction.held_out is flag} for flag in (True, False)
    )
    assert not held & seen
    assert len((held | seen) & set(OVERRIDES)) == len(OVERRIDES)


@given(st.integers(0, 10_000), st.integers(8, 400))
def test_statements_have_no_placeholders_and_name_their_subject(seed: int, count: int) -> None:
    corrections = cases(seed, count)
    assert len({correction.subject for correction in corrections}) == len(corrections) == count
    for correction in corrections:
        assert not set("{}") & set(correction.earlier + correction.later + correction.question), correction
        assert correction.subject in correction.earlier
        assert correction.subject in correction.question
        assert correction.earlier != correction.later
        if correction.outcome is not Outcome.UNRELATED:
            assert correction.subject in correction.later, correction


def test_corrections_are_stated_in_a_later_session_than_the_claim() -> None:
    correction = cases()[0]
    earlier, later = sessions(correction)
    assert later.captured_at > earlier.captured_at
    for session, statement in ((earlier, correction.earlier), (later, correction.later)):
        assert session.content.split("\n")[STATED - 1].endswith(statement)
    assert position_of([Hit(later.ref, 1, 1), Hit(earlier.ref, 3, 3), Hit(later.ref, 3, 4)], later.ref) == 2
    assert position_of([Hit(later.ref, 1, 1)], later.ref) is None


def test_scores_are_shares_of_all_judged_sessions_and_turns() -> None:
    found = score(Ranked(["b", "a", "c"], ["b:2", "a:1"]), ["a", "d"], ["a:1", "d:1", "d:2", "d:3"])
    assert (found.turns10, found.sessions5, found.sessions10, found.hit1, found.mrr) == (0.25, 0.5, 0.5, 0.0, 0.5)
    assert score(Ranked([], []), ["a"], ["a:1"]).mrr == 0
    means = by_kind([("temporal", found), ("multi-hop", score(Ranked(["a"], []), ["a"], ["a:1"]))])
    assert [means[kind]["hit1"].count for kind in ("all", "temporal", "multi-hop")] == [2, 1, 1]
    assert means["all"]["mrr"].mean == 0.75


def test_intervals_of_shares_are_wilson_intervals() -> None:
    half = interval([0.0, 1.0] * 50)
    assert (round(half.low, 3), round(half.high, 3)) == (0.404, 0.596)
    assert str(interval([1.0] * 10)) == "1.000 [0.722–1.000]"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200))
def test_intervals_contain_their_mean_and_stay_within_0_and_1(values: list[float]) -> None:
    found = interval(values)
    assert 0 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1


def test_kept_evidence_is_a_share_of_what_raw_search_finds() -> None:
    answers = [
        compiled.Answer("any", 4, 2, 3, 1, 1, 5, 10, 6, 4, 100),
        compiled.Answer("any", 1, 0, 1, 0, 0, 1, 30, 8, 4, 100),
    ]
    found = compiled.figures_of(answers)
    assert (found.kept.mean, found.kept.count, found.raw.mean, found.cited.mean) == (0.5, 1, 0.25, 0.875)
    assert (found.cited_by_lines.mean, found.cited_by_lines.count) == (0.5, 1)
    assert (found.sources, found.ratio, found.line_ratio) == (3, 0.2, 0.07)


def test_hits_are_ranked_as_the_turns_that_contain_their_lines() -> None:
    turns = {"s1": ("t1", "t2", "t2"), "s2": ("u1",)}
    hits = [Hit("s1", 3, 3), Hit("s2", 1, 1), Hit("s1", 2, 2), Hit("s1", 1, 1)]
    assert ranked(turns, hits) == Ranked(["s1", "s2"], ["t2", "u1", "t1"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two conversations of one session each, in which one turn has two lines."""
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


def test_conversations_map_each_source_line_to_its_turn(folder: Path) -> None:
    one, two = read_all(folder, [])
    assert one.sources[0].turns == ("one-t0", "one-t1", "one-t1")
    assert [query.id for query in one.queries] == ["one-q0"], "a question without evidence is not asked"
    both = combined([one, two])
    assert [source.ref for source in both.sources] == ["one-s", "two-s"]
    assert both.turns.judged == {"one-q0": {"one-t1": 1}, "two-q0": {"two-t1": 1}}


def test_missing_or_inconsistent_conversations_are_refused(folder: Path) -> None:
    with pytest.raises(NoCollections, match="has no three"):
        read_all(folder, ["three"])
    with pytest.raises(NoCollections, match="--data FOLDER"):
        read_all(folder / "one", [])
    write(folder / "one" / "turns.jsonl.gz", [{"id": "one-t0", "session": "one-s", "text": "Ada: other"}])
    with pytest.raises(NoCollections, match="one-s is not made of the turns"):
        read(folder / "one")


class Embeddings(BaseHTTPRequestHandler):
    """Answers embedding requests of OpenAI's protocol in reverse order; a vector counts the `a` and `e` of its text."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = [
            {"index": place, "embedding": [text.count("a"), text.count("e"), 0.1]}
            for place, text in enumerate(request["input"])
        ]
        body = json.dumps({"data": found[::-1], "model": request["model"]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def embeddings() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Embeddings)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_embeddings_of_a_server_rank_sessions_and_turns(folder: Path, embeddings: str) -> None:
    pytest.importorskip("numpy", reason="comes with the extra benchmarks")
    both = combined(read_all(folder, []))
    dense = Dense(embeddings, "letters")
    found = dense(both)("Yes?")
    dense.client.close()
    assert sorted(found.sessions) == ["one-s", "two-s"]
    assert found.turns[:2] == ["one-t1", "two-t1"], "those with `e` and without `a`, as the question"
    assert len(found.turns) == 4
