"""Words as search knows them, whatever a text is made of."""

import re
import tracemalloc
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from content.normalization import fold
from content.search.words import (
    ANALYSERS,
    MARKED,
    PART,
    PARTS,
    RUN_CACHES,
    SIGNS,
    SPACELESS,
    WORD_MAX,
    Word,
    spans,
    whole_words,
    words,
)

ANYTHING = st.text(st.characters())  # lone surrogates and NUL among them
WRITTEN = st.text(
    st.sampled_from("aZé`&?$>後 ßİﬁ'-_+#.:/\\\n\t0९東京都カナ가나ไทยлЙ\u0301\u3099\u200b\u200d\u00ad\0\ud800🚀①½ↂ")
    | st.characters(),
    max_size=60,
)
SIGN = re.compile(r"\w\W*(\+\+|#)")
SIGNED = tuple(SIGNS.values())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++: Café-Bars", "c cplusplus cafe bars"),
        ("C# and F#, not #tag", "c csharp and f fsharp not tag"),
        ("a+b, x++y, ++i", "a b x xplusplus y i"),
        ("東京都 后面 後面", "东京 京都 后面 后面"),
        ("都", "都"),
        ("iPhone対応", "iphone 対応"),
        ("한국어 말", "한국 국어 말"),
        ("น้ำตก", "น้ ้ํ ํา าต ตก"),
        ("don't stop", "don t stop"),
        ("snake_case __init__", "snake case init"),
        ("getElementById", "getelementbyid get element by id"),
        ("HTMLParser iPhone macOS", "htmlparser html parser iphone phone macos mac os"),
        ("URLs LNK2014 GPT4o WORD", "urls lnk2014 gpt4o word"),
        ("5mg 5 mg 16GB", "5 mg 5 mg 16 gb"),
        ("3D 2nd 802.11ac", "3d 2nd 802 11ac"),
        ("x && y ?? $_ ->", "x ampamp0 y questquest0 dollarlow0 minusmore0"),
        ("x&&y a->b $_.Name", "x y a b name"),
        ("`x&&y` ``a->b`` `$_.Name`", "x ampamp0 y a minusmore0 b dollarlow0 name"),
        ("```\nx&&y\n```", "x ampamp0 y"),
        ("a ` x&&y", "a x y"),
        ("really?? -- ... ** ## | - * > wait!!", "really wait"),
        ("std::vector strings.Trim GPT-4", "std vector strings trim gpt 4"),
        ("Straße ﬁn İzmir Łódź", "strasse fin izmir lodz"),
        ("soft\u00adhyphen", "softhyphen"),
        ("één e\u0301e\u0301n", "een een"),
        ("हिन्दी الإسلام Ёлка", "हिन्दी الاسلام елка"),
        ("½ ① Ⅷ", "1 2 1 viii"),
        ("\0a\ud800b", "a b"),
        (" .,;!? 🚀 ", ""),
        ("", ""),
    ],
)
def test_the_words_of_a_text(text: str, found: str) -> None:
    assert " ".join(words(text)) == found


def test_an_index_of_an_older_analyser_is_read_with_its_words() -> None:
    text = "C++ getElementById 5mg && `a->b` 東京都 snake_case"
    assert " ".join(ANALYSERS[3](text)) == "c cplusplus getelementbyid 5mg a b 東京 京都 snake case"


@given(ANYTHING | WRITTEN)
def test_whole_words_are_the_words_with_their_parts(text: str) -> None:
    assert [word for whole in whole_words(text) for word in whole] == words(text)


def test_only_names_in_camel_case_have_parts() -> None:
    text = "see getName, C++ iPhone対応 東東東 5mg"
    assert [word for word in whole_words(text) if word[1:]] == [("getname", "get", "name")]


@given(ANYTHING | WRITTEN)
def test_a_word_is_short_and_nothing_but_letters(text: str) -> None:
    for word in words(text):
        assert 0 < len(word) <= WORD_MAX + len("plusplus")
        assert not re.search(r"[\s_\0]", word)
        word.encode()


@given(ANYTHING | WRITTEN)
@example("x" * 2_500 + "東" * 2_500)
@example("0東#")
def test_each_word_has_its_place_in_the_text(text: str) -> None:
    placed = list(spans(text))
    assert [word.text for word in placed] == words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in placed)
    assert all(one.end <= next.end for one, next in pairwise(placed))
    unsigned = [word for word in placed if not word.text.endswith(SIGNED)]  # a sign belongs to its whole run
    assert all(one.start <= next.start for one, next in pairwise(unsigned))


@given(ANYTHING | WRITTEN)
def test_where_a_word_is_the_text_says_it(text: str) -> None:
    for word in spans(text):
        assert word.text in words(text[word.start : word.end])


@given(ANYTHING | WRITTEN)
@example("¼A")
def test_words_of_words_are_the_same(text: str) -> None:
    """Not where one word gives two: pairs of characters, and what signs add."""
    found = words(text)
    if not SPACELESS.search(fold(text)) and not SIGN.search(fold(text)):
        assert words(" ".join(found)) == found


@given(ANYTHING | WRITTEN, ANYTHING | WRITTEN)
def test_a_space_parts_texts(one: str, other: str) -> None:
    assert words(f"{one} {other}") == words(one) + words(other)


@given(st.text(st.characters(categories=["Lu", "Ll"]), min_size=1, max_size=20))
def test_case_does_not_matter(text: str) -> None:
    assert words(text.upper().lower()) == words(text.lower().upper().lower())


def test_where_folding_makes_two_of_a_character_both_are_in_its_place() -> None:
    """Thai's sara am; a ligature of a script with spaces is its whole word's place."""
    assert list(spans("ไป น\u0e33")) == [Word("ไป", 0, 2), Word("น\u0e4d", 3, 5), Word("\u0e4d\u0e32", 4, 5)]
    assert list(spans("a ﬁn 東京都")) == [Word("a", 0, 1), Word("fin", 2, 4), Word("东京", 5, 7), Word("京都", 6, 8)]


@pytest.mark.parametrize(
    "piece", ["x", "東", "x東", "é", "a++", "C#", "+", "#", "\u0301", "ไ", "a ", "_", "🚀", "\ud800"]
)
def test_the_words_of_a_long_text_are_found_as_its_spans_are(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    found = words(text)
    assert len(list(spans(text))) == len(found)


def test_what_is_remembered_of_words_has_a_bound() -> None:
    """A run may be as long as a page: as many as are remembered would be all memory there is."""
    forget()
    assert words(f"Bats {'x' * 1_000}") == ["bats", "x" * WORD_MAX]
    assert [word.text for word in spans("東" * 500)][:2] == ["东东", "东东"]
    assert remembered() == 1


def test_words_that_come_and_go_take_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once as many are remembered as ever will be, what forgets and learns them is made anew, no larger than before and
    a small piece at a time. Four of the pieces are tried: each is like the others."""
    monkeypatch.setattr("content.search.words.RUN_CACHES", RUN_CACHES[:4] * (PARTS // 4))
    forget()
    tracemalloc.start()
    try:
        for n in range(8 * PART):
            words(f"{n}first")
        full, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for n in range(8 * PART):
            words(f"{n}later")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [part.cache_info().currsize for part in RUN_CACHES[:4]] == [PART] * 4
    assert most - full < 300_000


def forget() -> None:
    for part in RUN_CACHES:
        part.cache_clear()


def remembered() -> int:
    return sum(part.cache_info().currsize for part in RUN_CACHES)


def test_no_mark_of_the_scripts_that_are_written_lies_where_none_is_looked_for() -> None:
    looked_at = {code for some in MARKED for code in some}
    marks = {code for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"}
    assert len(marks) > 1_000
    assert marks <= looked_at
