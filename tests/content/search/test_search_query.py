"""Search queries are parsed into words, phrases, exclusions and filters."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from content.limits import UNSTORABLE
from content.search.search_query import (
    DEMANDS_MAX,
    QUERY_MAX,
    SearchQuery,
    parse,
    understand,
    without_exclusions,
    without_quotes,
)
from content.search.words import words
from content.templates import TEMPLATES

PIECES = [
    '"', "“", "”", "'", "-", "－", "--", ":", "：", "::", " ", " ", "\u3000", "\n", "type", "TAG", "tag:", "-tag:x",
    "in:title", "status:any", "updated:", ">=", "<", "2026-01-01", "2026", "owner:a", "café", "東京", "C++", "http://x",
    "\0", "\ud800",
]  # fmt: skip
LINES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=20).map("".join)
# Neither a quote, nor a colon, nor a minus.
PLAIN = st.text(st.characters(exclude_characters='"：:-－＂“”„‟'), max_size=60)
PHRASES = PLAIN.map(lambda text: " ".join(UNSTORABLE.sub(" ", text).split())).filter(words)


def day(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", SearchQuery()),
        ("  how do I   brew coffee? ", SearchQuery("how do I brew coffee?")),
        ('the "flat white" of Austin', SearchQuery("the flat white of Austin", phrases=("flat white",))),
        ("“flat  white” „ein Satz“", SearchQuery("flat white ein Satz", phrases=("flat white", "ein Satz"))),
        ('coffee -tea -"iced tea"', SearchQuery("coffee", excluded=("tea", "iced tea"))),
        ("type:topic type:Entity x", SearchQuery("x", types=("topic", "entity"))),
        ("-type:source x", SearchQuery("x", excluded_types=("source",))),
        ('tag:"two words" TAG:Food -tag:old', SearchQuery(tags=("two words", "Food"), excluded_tags=("old",))),
        ("status:archived", SearchQuery(statuses=("archived",))),
        ("status:any status:Active", SearchQuery(statuses=("active", "archived"))),
        ("in:title in:Title auth", SearchQuery("auth", title_only=True)),
        ("owner:ann owner:Team-1 x", SearchQuery("x", owner="team-1")),
        ("ｔｙｐｅ：ｔｏｐｉｃ －x ＂a b＂", SearchQuery("a b", ("a b",), ("x",), ("topic",))),
        ('tag:a tag:a "b c" "b c" -d -d', SearchQuery("b c b c", ("b c",), ("d",), tags=("a",))),
        ('type:"topic" owner:"ann"', SearchQuery(types=("topic",), owner="ann")),
        ("-std::vector -foo:bar", SearchQuery(excluded=("std::vector", "foo:bar"))),
        ("-C++ C#", SearchQuery("C#", excluded=("C++",))),
        ('"a b"-c', SearchQuery("a b -c", phrases=("a b",))),
    ],
)
def test_operators_and_quotes_are_parsed(text: str, query: SearchQuery) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "type:bogus", "type:", "status:draft", "in:body", "foo:bar", "std::vector", "tag::dispatch", "http://x",
        "owner:a/b", "a:", ":", "::", "-", "--x", "--", "x - y", "x-y", "twenty-one", 'lone " quote',
        '"lone', '-"lone', 'tag:"lone',
        '5"', '3.5" disk 5" disk', "'single quotes'", "what's O'Reilly's", '""', '"…"', "-…", 'tag:""', 'foo:"a b"',
        "updated:May", "updated:2026-13", "updated:2026-02-30", "updated:2026-1-1", "updated:0000", "updated:9999",
        "updated:>", "updated:=2026", "updated:><2026", "updated:9999-12-31", "title:x",
        "(a OR b) AND c*", r"\d+ %s ; --",
    ],
)  # fmt: skip
def test_unknown_operators_and_lone_signs_are_words(text: str) -> None:
    assert parse(text) == SearchQuery(text)


@pytest.mark.parametrize("text", ["-type:bogus", "-in:title", "-status:any", "-updated:2026", "-owner:a"])
def test_a_minus_before_an_operator_without_negation_excludes_words(text: str) -> None:
    assert parse(text) == SearchQuery(excluded=(text[1:],))


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("updated:2026-01-31", day(2026, 1, 31), day(2026, 2, 1)),
        ("updated:2024-02", day(2024, 2), day(2024, 3)),
        ("updated:2026-12", day(2026, 12), day(2027)),
        ("updated:2026", day(2026), day(2027)),
        ("updated:>2026-01-01", day(2026, 1, 2), None),
        ("updated:>=2026-01-01", day(2026), None),
        ("updated:<2026-01-01", None, day(2026)),
        ("updated:<=2026-01-01", None, day(2026, 1, 2)),
        ("updated:>2025", day(2026), None),
        ("updated:<=2025-12", None, day(2026)),
        ("UPDATED：＞＝2026", day(2026), None),
        ("updated:>=2024 updated:>=2025 updated:<2027 updated:<2026", day(2025), day(2026)),
    ],
)
def test_dates_are_days_months_and_years_of_utc(text: str, after: datetime | None, before: datetime | None) -> None:
    assert parse(text) == SearchQuery(updated_after=after, updated_before=before)


@given(st.datetimes(day(1).replace(tzinfo=None), day(9998).replace(tzinfo=None)))
def test_date_filters_before_on_and_after_a_day_do_not_overlap(moment: datetime) -> None:
    start = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    date = f"{start:%Y-%m-%d}".zfill(10)
    within = parse(f"updated:{date}")
    assert (within.updated_after, within.updated_before) == (start, start + timedelta(days=1))
    assert parse(f"updated:<{date}").updated_before == parse(f"updated:>={date}").updated_after == start
    assert parse(f"updated:<={date}").updated_before == parse(f"updated:>{date}").updated_after == within.updated_before


@given(st.text() | LINES)
def test_any_text_gives_a_valid_query(text: str) -> None:
    query = parse(text)
    assert set(query.types + query.excluded_types) <= set(TEMPLATES)
    assert set(query.statuses) <= {"active", "archived"}
    assert all(map(words, query.phrases + query.excluded))
    assert all(query.tags + query.excluded_tags)
    "".join([query.words, *query.phrases, *query.excluded, *query.tags, query.owner or ""]).encode()
    assert "\0" not in query.words


@given(st.text() | LINES)
def test_words_of_phrases_are_also_search_words(text: str) -> None:
    query = parse(text)
    assert all(phrase in query.words for phrase in query.phrases)


@given(PLAIN)
def test_words_without_operators_stay_as_they_are(text: str) -> None:
    assert words(parse(text).words) == words(text)
    assert parse(text) == SearchQuery(parse(text).words)


@given(st.lists(PHRASES, max_size=4, unique=True))
def test_quoted_values_are_parsed_unchanged(phrases: list[str]) -> None:
    assert parse(" ".join(f'"{phrase}"' for phrase in phrases)).phrases == tuple(phrases)
    assert parse(" ".join(f'-"{phrase}"' for phrase in phrases)).excluded == tuple(phrases)
    assert parse(" ".join(f'tag:"{phrase}"' for phrase in phrases)).tags == tuple(phrases)
    assert parse(" ".join(f'-tag:"{phrase}"' for phrase in phrases)).excluded_tags == tuple(phrases)


def test_phrases_and_filters_beyond_thirty_two_are_words() -> None:
    query = parse(" ".join(f'"two {n}"' for n in range(40)) + " tag:food")
    assert len(query.phrases) == DEMANDS_MAX == 32
    assert query.tags == ()
    assert {"39", "food"} <= set(words(query.words))


@given(LINES, LINES)
@example("`", "::type`")
def test_a_query_of_two_lines_combines_the_queries_of_each(first: str, second: str) -> None:
    if set('"`') & set(parse(first).words + parse(second).words):
        return  # a phrase or a code span may begin on one line and end on the other
    both = parse(f"{first}\n{second}")
    assert words(both.words) == words(parse(first).words) + words(parse(second).words)
    assert set(both.excluded) == set(parse(first).excluded + parse(second).excluded)
    assert set(both.tags) == set(parse(first).tags + parse(second).tags)


@pytest.mark.parametrize(
    "unit",
    ['"', '-"', '" ', 'tag:"', ':"', "-", "- ", "a:", "type:", "a", "-a ", '"a b" ', "東", "updated:2", "ﷺ", "\0"],
)
def test_only_the_beginning_of_a_long_query_is_parsed(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert parse(text) == parse(text[:QUERY_MAX])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-Gm compiler option", SearchQuery("Gm compiler option")),
        ("-NXCOMPAT linker", SearchQuery("NXCOMPAT linker")),
        ("-Wp64 warnings", SearchQuery("Wp64 warnings")),
        ("-openmp compiler option", SearchQuery("openmp compiler option")),
        ("-decaf coffee", SearchQuery("coffee", excluded=("decaf",))),
        (" -Decaf coffee", SearchQuery("coffee", excluded=("Decaf",))),
        ('-"light roast" coffee', SearchQuery("coffee", excluded=("light roast",))),
        ("-東京 会議", SearchQuery("会議", excluded=("東京",))),
        ("-oak", SearchQuery(excluded=("oak",))),
        ("brisket -oak", SearchQuery("brisket", excluded=("oak",))),
        ('is a "type correct" program one that the checker of a strict language accepts, or more -', None),
    ],
)
def test_signs_in_sentences_and_command_switches_are_no_operators(text: str, expected: SearchQuery | None) -> None:
    assert understand(text) == (expected or SearchQuery(text))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ls -Recurse", "ls Recurse"),
        ("-a －b -tag:old -type:topic", "a b -tag:old -type:topic"),
        ('tea -"iced tea" - --x a-b', 'tea -"iced tea" - --x a-b'),
        ("-foo:bar -type:bogus", "foo:bar type:bogus"),
    ],
)
def test_without_exclusions_makes_exclusions_words(text: str, plain: str) -> None:
    assert without_exclusions(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('who sang "Winter Light" first', "who sang Winter Light first"),
        ('“light roast” 5"', 'light roast 5"'),
        ('tag:"city guide" -"iced tea" tea', 'tag:"city guide" -"iced tea" tea'),
        ('"" "?" tea', '"" "?" tea'),
    ],
)
def test_without_quotes_makes_phrases_words(text: str, plain: str) -> None:
    assert without_quotes(text) == plain


@given(st.text(max_size=200))
def test_without_exclusions_keeps_filters_and_adds_no_exclusion(text: str) -> None:
    before, after = parse(text), parse(without_exclusions(text))
    assert {field: getattr(after, field) for field in ("tags", "excluded_tags", "types", "owner")} == {
        field: getattr(before, field) for field in ("tags", "excluded_tags", "types", "owner")
    }
    assert set(after.excluded) <= set(before.excluded)
