"""The labelled wikis are complete, and compiled pages are judged against their labels."""

from collections import Counter

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from benchmarks.compiler.judged import HALVES, UNSEEN, JudgedWiki, Label, held_out, wikis
from benchmarks.compiler.judging import GOALS, JudgedPage, compile_and_judge, drafts, judge, totals
from content.names import normalise
from tests.compiler.models.scripted_model import ScriptedModel


def test_labelled_wikis_hold_over_2100_reasoned_candidates_of_35_kinds() -> None:
    found = wikis()
    labels = [label for wiki in found for label in wiki.labels]
    assert len({wiki.kind for wiki in found}) == 35
    assert len(labels) >= 2_100
    assert all(label.reason and label.names[0] for label in labels)
    assert {label.type for label in labels} == {"entity", "topic", "decision"}
    assert 0.25 < sum(label.is_wanted for label in labels) / len(labels) < 0.5


def test_the_seed_decides_which_of_two_wikis_of_a_kind_is_held_out() -> None:
    halves = [{wiki.name for wiki in wikis(half)} for half in HALVES]
    assert halves[0].isdisjoint(halves[1])
    kinds = {wiki.kind for wiki in wikis() if wiki.name.endswith("_b")}
    assert len(kinds) == 19
    of_two = [Counter(kind for name in half if (kind := name.rpartition("_")[0]) in kinds) for half in halves]
    assert of_two == [Counter(dict.fromkeys(kinds, 1))] * 2
    assert len({frozenset(held_out(kinds, seed)) for seed in range(9)}) > 1


def test_files_become_dated_sources_that_contain_every_wanted_name() -> None:
    for wiki in wikis():
        sources = drafts(wiki)
        assert len(sources) == len(wiki.files)
        assert all(draft.captured_at for draft in sources) or wiki.name[-1] in "cd", wiki.name
        wanted = [normalise(name) for label in wiki.names if label.is_wanted for name in label.names]
        assert all(count < 3 for count in Counter(wanted).values())
        text = "".join((*wiki.files, *wiki.files.values())).casefold()
        for label in wiki.names:
            if label.is_wanted:
                assert any(name.casefold() in text for name in label.names), (wiki.name, label)


def test_unseen_wikis_have_other_kinds_and_contain_every_labelled_name() -> None:
    unseen = wikis(folder=UNSEEN)
    assert len(unseen) == 16
    assert {wiki.kind for wiki in unseen}.isdisjoint(wiki.kind for wiki in wikis())
    for wiki in unseen:
        assert len(drafts(wiki)) == len(wiki.files)
        text = "".join((*wiki.files, *wiki.files.values())).casefold()
        for label in wiki.names:
            assert label.reason
            assert any(name.casefold() in text for name in label.names), (wiki.name, label)


LABELS = (
    Label(True, "entity", ("Deborah", "Deb"), "speaks"),
    Label(False, "entity", ("Hey Deb",), "greeting"),
    Label(True, "topic", ("pottery",), "her hobby"),
    Label(True, "decision", ("harbor half",), "agreed"),
    Label(False, "decision", ("blue glaze",), "a colour"),
)
WIKI = JudgedWiki("chat_x", {}, LABELS)


def test_duplicate_and_unlabelled_pages_are_judged_wrong() -> None:
    pages = [
        JudgedPage("entity", "Deborah", frozenset({"deborah", "deb"})),
        JudgedPage("entity", "Deb", frozenset({"deb"})),
        JudgedPage("entity", "Hey Deb", frozenset({"hey deb", "deb"})),
        JudgedPage("entity", "Netflix", frozenset({"netflix"})),
        JudgedPage("decision", "Run the Harbor Half in October"),
        JudgedPage("decision", "The blue glaze"),
    ]
    result = judge(WIKI, pages)
    assert result.pages == [True, False, False, False]
    assert result.decisions == [True, False]
    assert (result.recall, result.decided) == ([True, False], [True])
    assert result.duplicates == ["chat_x: Deb"]
    assert result.missing == ["chat_x: pottery (topic)"]
    assert len(result.unwanted) == 3
    (kind, *_, total) = totals([result])
    assert (kind.name, total.name) == ("chat", "all")
    assert total.share("pages").mean == 0.25
    assert set(GOALS) == {"pages", "decisions", "recall"}


async def test_wikis_that_a_model_did_not_compile_are_not_judged(dsn: str) -> None:
    failing = ScriptedModel(lambda prompt: ModelHTTPError(503, "oracle", "secret"))
    with pytest.raises(SystemExit, match=r"1 of 1 wikis are not compiled.*status 503"):
        await compile_and_judge(dsn, wikis()[:1], failing.compiler())
