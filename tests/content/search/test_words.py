"""Texts are split into the words that search indexes."""

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
def test_texts_are_split_into_folded_words(text: str, found: str) -> None:
    assert " ".join(words(text)) == found


def test_an_older_analyser_still_returns_its_own_words() -> None:
    text = "C++ getElementById 5mg && `a->b` 東京都 snake_case"
    assert " ".join(ANALYSERS[3](text)) == "c cplusplus getelementbyid 5mg a b 東京 京都 snake case"


@given(ANYTHING | WRITTEN)
def test_whole_words_are_the_words_with_their_parts(text: str) -> None:
    assert [word for whole in whole_words(text) for word in whole] == words(text)


def test_only_names_in_camel_case_have_parts() -> None:
    text = "see getName, C++ iPhone対応 東東東 5mg"
    assert [word for word in whole_words(text) if word[1:]] == [("getname", "get", "name")]


@given(ANYTHING | WRITTEN)
def test_words_are_short_and_have_no_spaces_or_underscores(text: str) -> None:
    for word in words(text):
        assert 0 < len(word) <= WORD_MAX + len("plusplus")
        assert not re.search(r"[\s_\0]", word)
        word.encode()


@given(ANYTHING | WRITTEN)
@example("x" * 2_500 + "東" * 2_500)
@example("0東#")
def test_spans_give_each_word_its_position(text: str) -> None:
    placed = list(spans(text))
    assert [word.text for word in placed] == words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in placed)
    assert all(previous.end <= following.end for previous, following in pairwise(placed))
    unsigned = [word for word in placed if not word.text.endswith(SIGNED)]  # a sign belongs to its whole run
    assert all(previous.start <= following.start for previous, following in pairwise(unsigned))


@given(ANYTHING | WRITTEN)
def test_the_text_at_a_span_contains_its_word(text: str) -> None:
    for word in spans(text):
        assert word.text in words(text[word.start : word.end])


@given(ANYTHING | WRITTEN)
@example("¼A")
def test_splitting_words_again_returns_the_same_words(text: str) -> None:
    """Words that give two words, pairs of characters and names with signs, are left out."""
    found = words(text)
    if not SPACELESS.search(fold(text)) and not SIGN.search(fold(text)):
        assert words(" ".join(found)) == found


@given(ANYTHING | WRITTEN, ANYTHING | WRITTEN)
def test_a_space_separates_words(first: str, second: str) -> None:
    assert words(f"{first} {second}") == words(first) + words(second)


@given(st.text(st.characters(categories=["Lu", "Ll"]), min_size=1, max_size=20))
def test_words_ignore_case(text: str) -> None:
    assert words(text.upper().lower()) == words(text.lower().upper().lower())


def test_letters_folded_from_one_character_share_its_position() -> None:
    """Examples are the Thai sara am and a Latin ligature, whose word has one position."""
    assert list(spans("ไป น\u0e33")) == [Word("ไป", 0, 2), Word("น\u0e4d", 3, 5), Word("\u0e4d\u0e32", 4, 5)]
    assert list(spans("a ﬁn 東京都")) == [Word("a", 0, 1), Word("fin", 2, 4), Word("东京", 5, 7), Word("京都", 6, 8)]


@pytest.mark.parametrize(
    "piece", ["x", "東", "x東", "é", "a++", "C#", "+", "#", "\u0301", "ไ", "a ", "_", "🚀", "\ud800"]
)
def test_a_long_text_has_as_many_spans_as_words(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    found = words(text)
    assert len(list(spans(text))) == len(found)


def test_long_runs_are_not_cached() -> None:
    """A run may be as long as a page, so a full cache of such runs would take all memory."""
    clear_caches()
    assert words(f"Bats {'x' * 1_000}") == ["bats", "x" * WORD_MAX]
    assert [word.text for word in spans("東" * 500)][:2] == ["东东", "东东"]
    assert cached_runs() == 1


def test_replaced_cache_entries_take_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the caches are full, entries that replace others need no more memory. The test uses four parts of the cache,
    since all parts are alike."""
    monkeypatch.setattr("content.search.words.RUN_CACHES", RUN_CACHES[:4] * (PARTS // 4))
    clear_caches()
    tracemalloc.start()
    try:
        for n in range(8 * PART):
            words(f"{n}first")
        full, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for n in range(8 * PART):
            words(f"{n}later")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [part.cache_info().currsize for part in RUN_CACHES[:4]] == [PART] * 4
    assert peak - full < 300_000


def clear_caches() -> None:
    for part in RUN_CACHES:
        part.cache_clear()


def cached_runs() -> int:
    return sum(part.cache_info().currsize for part in RUN_CACHES)


def test_marked_blocks_contain_every_mark_of_the_basic_plane() -> None:
    covered = {code for block in MARKED for code in block}
    marks = {code for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"}
    assert len(marks) > 1_000
    assert marks <= covered
