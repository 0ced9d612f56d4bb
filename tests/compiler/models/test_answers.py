"""Whatever a model answers, the plan and the text made of it cite only sources that it was shown."""

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from compiler.extraction.readings import Reading
from compiler.models.answers import (
    HeldAnswer,
    LinkAnswer,
    PageAnswer,
    PlanAnswer,
    SectionAnswer,
    SectionTextAnswer,
    StatementAnswer,
    UpdateAnswer,
)
from compiler.models.plans import Shown, plan_of
from compiler.models.statements import lines_of
from compiler.planner import MentionCard, PageCard, Plan, SourceText
from compiler.quoting import find_refs, mark
from content.markdown.links import find_links
from content.names import normalise

DAY = datetime(2026, 4, 1, tzinfo=UTC)
SOURCES = {
    f"s{n}": SourceText(UUID(int=n), "daily_note", f"day-{n}", text, DAY)
    for n, text in enumerate(("Momofuku is in Toronto. They say “no bookings”.", "Ana ate *ramen* at Momofuku."), 1)
}
CARD = PageCard(UUID(int=10), "entity", "toronto", "Toronto", None, frozenset({"toronto"}))
HELD = MentionCard("ana", "Ana", "open", "entity", (UUID(int=9),), (DAY,))
SHOWN = Shown({handle: Reading(source) for handle, source in SOURCES.items()}, {"p1": CARD}, {"m1": HELD})
IDS = {source.id for source in SOURCES.values()}

handles = st.lists(st.sampled_from(["s1", "s2", "s3", "p1", "n1", "m1", "", "S1"]), max_size=3)
words = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["Momofuku", "Toronto", "Ana", "**Toronto**", "[x](/wiki/entity/toronto)", "“no bookings”", "“we pay”"]
    ),
)
sections = st.lists(st.builds(SectionAnswer, slug=words, heading=st.none() | words, sources=handles), max_size=3)
types = st.sampled_from(["entity", "topic", "decision", "spirit", ""])
named = {"aliases": st.lists(words, max_size=3), "tags": st.lists(words, max_size=3), "sections": sections}
new_pages = st.builds(
    PageAnswer, handle=st.sampled_from(["n1", "n2", "p1", ""]), type=types, title=words, promotes=handles, **named
)
answers = st.builds(
    PlanAnswer,
    pages=st.lists(new_pages, max_size=4),
    updates=st.lists(st.builds(UpdateAnswer, page=st.sampled_from(["p1", "p2", "n1"]), **named), max_size=3),
    held=st.lists(st.builds(HeldAnswer, name=words, source=st.sampled_from(["s1", "s9"]), quote=words), max_size=3),
    links=st.lists(
        st.builds(
            LinkAnswer, start=st.sampled_from(["p1", "n1"]), end=st.sampled_from(["n1", "p1", "p7"]), sources=handles
        ),
        max_size=3,
    ),
)
statements = st.builds(
    SectionTextAnswer,
    statements=st.lists(st.builds(StatementAnswer, text=words, quote=st.none() | words, sources=handles), max_size=5),
)


@given(answers)
def test_a_plan_cites_only_sources_that_were_shown(answer: PlanAnswer) -> None:
    plan = plan_of(answer, SHOWN)
    for page in plan.new_pages:
        assert page.sections
        for n, section in enumerate(page.sections):
            assert IDS.intersection(section.source_ids)
            assert set(section.source_ids) <= IDS | ({UUID(int=9)} if n == 0 and page.promotes else set())
        assert set(page.promotes) <= {"ana"}
    for update in plan.updates:
        assert update.page_id == CARD.id
        assert update.sections
        assert all(section.source_ids and IDS.issuperset(section.source_ids) for section in update.sections)
    for held in plan.held:
        assert held.source_id in IDS
        assert held.context
    titles = {(page.type, page.title) for page in plan.new_pages}
    for link in plan.links:
        assert link.source_ids
        assert all(end.id == CARD.id or (end.type, end.title) in titles for end in (link.start, link.end))


@given(answers)
def test_aliases_in_a_plan_are_names_that_sources_write(answer: PlanAnswer) -> None:
    plan: Plan = plan_of(answer, SHOWN)
    written = normalise(" ".join(source.content for source in SOURCES.values()))
    for page in (*plan.new_pages, *plan.updates):
        assert all(normalise(alias) in written for alias in page.aliases)


@given(statements)
@example(SectionTextAnswer(statements=[StatementAnswer(text="1. [[x]] **Toronto**", sources=["s2"])]))
def test_every_line_cites_shown_sources_and_has_no_links(answer: SectionTextAnswer) -> None:
    for line in lines_of(answer, "notes", SOURCES, {"Toronto"}, []):
        assert line.startswith("- ")
        refs = find_refs(line)
        assert refs
        assert set(refs) <= {"day-1", "day-2"}
        assert "\n" not in line
        assert not find_links(line)


def test_a_quote_is_written_verbatim_or_left_out() -> None:
    given_quotes = {
        "Without marks.": "Ana ate ramen",
        "As it is written.": "Ana ate *ramen*",
        "Made up.": "Ana ate soup",
        "A sentence.": "They say “no bookings”.",
    }
    answer = SectionTextAnswer(
        statements=[StatementAnswer(text=text, quote=q, sources=["s1", "s2"]) for text, q in given_quotes.items()]
    )
    first, second, third, fourth = lines_of(answer, "notes", SOURCES, (), [])
    assert "“Ana ate ramen”" in first
    assert r"“Ana ate \*ramen\*”" in second
    assert "soup" not in third
    assert "“They say “no bookings”.”" in fourth


def test_statements_that_quote_unsaid_words_are_dropped() -> None:
    quoted = StatementAnswer(text="They take “no bookings”.", sources=["s1"])
    invented = StatementAnswer(text="They say “we are closed”.", sources=["s1"])
    (line,) = lines_of(SectionTextAnswer(statements=[quoted, invented]), "overview", SOURCES, (), [])
    assert line == f"They take “no bookings”. {mark(SOURCES['s1'])}"


def test_bold_titles_stay_and_other_marks_are_removed_or_escaped() -> None:
    text = "# **Toronto** has **noodles**, ![x](http://e.example/a) and <b>"
    (line,) = lines_of(
        SectionTextAnswer(statements=[StatementAnswer(text=text, sources=["s1"])]), "overview", SOURCES, {"Toronto"}, []
    )
    assert line == r"**Toronto** has noodles, !\[x\](http://e.example/a) and \<b\> [^day-1]"
