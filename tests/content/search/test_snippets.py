"""The snippet that is shown of a page, and its highlights."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.search.snippets import BEGINNING, LENGTH, Snippet, candidates, choose, html, plain_text
from content.search.words import words

FILLER = "Nothing of the kind stands here, and so it goes on for a while. " * 8
PIECES = [
    "apple ", "Äpple, ", "**apple**", "pear", " ", "\n", "\n\n", "| ", "|---|\n", "```\n", "`", "[apple](", "[[",
    "](x)", "東京", "東京都", "に", "ไทย", "C++ ", "_", "<mark>", "&amp;", "\0", "\ud800", "\u202e", "e\u0301", "<!--",
    "-->", "ﷺ", "x" * 75, "\ue000",
]  # fmt: skip
BODIES = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=60).map("".join)
PAGES = st.lists(
    st.tuples(st.sampled_from(["", "Apple", "Pear & apple", "東京"]) | st.text(max_size=5), BODIES), max_size=4
)
TERMS = st.sets(st.sampled_from(["apple", "pear", "東京", "京都", "ไท", "c", "cplusplus", "mark", "e"]), max_size=4)


def one_of(terms: set[str]) -> Callable[[str], str | None]:
    return lambda word: word if word in terms else None


def found(sections: list[tuple[str, str]], *terms: str, length: int = LENGTH) -> Snippet:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), one_of({*terms}), length)
    assert snippet is not None
    return snippet


def highlighted(snippet: Snippet) -> list[str]:
    return [snippet.text[start : start + length] for start, length in snippet.highlights]


def test_the_passage_holds_the_words_that_were_asked_for() -> None:
    snippet = found([("", FILLER), ("Drinks", f"{FILLER}The flat white is a coffee. {FILLER}")], "flat", "coffee")
    assert snippet.section == 1
    assert highlighted(snippet) == ["flat", "coffee"]
    assert len(snippet.text) <= LENGTH
    assert snippet.text[0] == snippet.text[-1] == "…"


def test_it_is_cut_between_words() -> None:
    snippet = found([("", f"{FILLER}coffee {FILLER}")], "coffee")
    assert set(snippet.text.strip("…").split()) <= {*FILLER.split(), "coffee"}


def test_a_short_text_is_shown_whole() -> None:
    assert found([("", "A coffee.")], "coffee") == Snippet(0, "A coffee.", ((2, 6),))


def test_different_words_count_more_than_many_of_one() -> None:
    sections = [("", f"coffee coffee coffee coffee. {FILLER}coffee with milk")]
    assert highlighted(found(sections, "coffee", "milk")) == ["coffee", "milk"]


def test_rare_words_count_more_than_common_ones() -> None:
    sections = [("", f"one two. {FILLER}three")]
    snippet = choose(sections, {"one": 1.0, "two": 1.0, "three": 3.0}, one_of({"one", "two", "three"}))
    assert snippet is not None
    assert highlighted(snippet) == ["three"]


def test_of_equals_the_one_with_more_hits_and_then_the_first_is_shown() -> None:
    assert found([("", "tea"), ("", "tea tea"), ("", "tea tea")], "tea").section == 1
    assert found([("A", f"tea {FILLER}"), ("B", f"{FILLER} tea")], "tea").section == 0


def test_a_heading_that_says_it_picks_its_section() -> None:
    sections = [("", "How to brew coffee, brew, coffee, brew."), ("Brew coffee", "Take water."), ("Coffee", "To brew.")]
    assert found(sections, "brew", "coffee") == Snippet(1, "Take water.")


def test_a_heading_that_says_nothing_else_is_better() -> None:
    sections = [("Coffee and its history", "A coffee in Vienna."), ("Coffee", "A plant.")]
    assert found(sections, "coffee").section == 1


def test_a_matching_heading_without_text_is_shown_itself() -> None:
    assert found([("", "Water."), ("Why **coffee**", "")], "coffee") == Snippet(1, "Why coffee", ((4, 6),))


def test_without_a_match_it_is_the_beginning() -> None:
    sections = [("Empty", " \n"), ("Text", "The **beginning** of it."), ("More", "More.")]
    assert found(sections, "coffee") == Snippet(1, "The beginning of it.")
    assert found([("", FILLER)], "coffee", length=20) == Snippet(0, "Nothing of the…")


@pytest.mark.parametrize("sections", [[], [("", "")], [("Heading", "")], [("", "---\n\n***")]])
def test_where_there_is_no_text_there_is_no_passage(sections: list[tuple[str, str]]) -> None:
    assert choose(sections, {"coffee": 1.0}, one_of({"coffee"})) is None


def test_the_caller_says_which_words_stand_for_a_term() -> None:
    snippet = choose(
        [("", "Brewing is what brewers brewed.")], {"brew": 1.0}, lambda w: "brew" if w[:4] == "brew" else None
    )
    assert snippet is not None
    assert highlighted(snippet) == ["Brewing", "brewers", "brewed"]


@pytest.mark.parametrize(
    ("text", "terms", "pieces"),
    [
        ("Im Café trinkt man CAFÉ.", ("cafe",), ["Café", "CAFÉ"]),
        ("C++ und C#.", ("cplusplus",), ["C++"]),
        ("私は東京都に住む", ("东京", "京都"), ["東京都"]),
        ("私は東京都に住む", ("东京",), ["東京"]),
        ("東京 東京", ("东京",), ["東京", "東京"]),
        ("snake_case", ("snake", "case"), ["snake", "case"]),
        ("ภาษาไทย", ("ไท", "ทย"), ["ไทย"]),
    ],
)
def test_words_of_every_script_are_highlighted(text: str, terms: tuple[str, ...], pieces: list[str]) -> None:
    assert highlighted(found([("", text)], *terms)) == pieces


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('See [the **docs**](https://example.org/a_(b) "title").', "See the docs."),
        ("[![build](https://x.org/b.svg)](https://x.org) ok", "build ok"),
        ('Text.\n\n[1]: https://example.org/x "Title"\n[^1]: A note.', "Text. [^1]: A note."),
        ("| Name | Age |\n|:---|---:|\n| [[a\\|Ann]] | 3 |", "Name Age Ann 3"),
        ("a || b", "a || b"),
        ("Before\n\n---\n\nafter\n=====", "Before after"),
        ("```python\nx = handlers[name](**kwargs) || y\n```\nand *more*", "x = handlers[name](**kwargs) || y and more"),
        ("`vector<int> **kwargs` or `map[key](x)`", "vector<int> **kwargs or map[key](x)"),
        ("~~~\n**open", "**open"),
        ("seen <!-- hidden\nremark --> text", "seen text"),
        ("seen <!-- <b>hidden</b> --> text %%and this%%", "seen text"),
        ("say `<!-- note -->` and `%%`", "say <!-- note --> and %%"),
        ("a\0b \x1b[31m \ud800c \u202edrow\u202c", "a b [31m c drow"),
        ("日本語。\n日本", "日本語。 日本"),
    ],
)
def test_only_what_a_text_says_is_shown(text: str, shown: str) -> None:
    assert plain_text(text) == shown


def test_as_html_only_the_highlights_are_markup() -> None:
    snippet = found([("", "`<b>` & \"coffee\" 'x'")], "coffee")
    assert html(snippet) == "&lt;b&gt; &amp; &quot;<mark>coffee</mark>&quot; &#x27;x&#x27;"


@given(PAGES, TERMS, st.integers(-1, 300))
def test_highlights_are_words_that_match_in_order_and_apart(
    sections: list[tuple[str, str]], terms: set[str], length: int
) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), one_of(terms), length)
    if snippet is None:
        return
    assert 0 < len(snippet.text) <= max(length, 3)
    assert snippet.text == " ".join(snippet.text.split())
    snippet.text.encode()
    at = -1
    for start, size in snippet.highlights:
        assert at < start
        assert size > 0
        at = start + size
        assert terms.intersection(words(snippet.text[start:at]))
    assert at <= len(snippet.text)


@given(PAGES, TERMS)
def test_what_matches_is_found(sections: list[tuple[str, str]], terms: set[str]) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), one_of(terms), 100_000)
    matching = [n for n, (_, body) in enumerate(sections) if terms.intersection(words(plain_text(body)))]
    if snippet is None:
        assert not any(plain_text(body) for _, body in sections)
    elif matching and not any(terms.intersection(words(heading)) for heading, _ in sections):
        assert snippet.section in matching
        assert snippet.highlights


@given(PAGES, TERMS)
def test_html_is_the_text_with_marks(sections: list[tuple[str, str]], terms: set[str]) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), one_of(terms))
    if snippet is None:
        return
    pieces = re.split("</?mark>", html(snippet))
    assert unescape("".join(pieces)) == snippet.text
    assert [unescape(piece) for piece in pieces[1::2]] == highlighted(snippet)
    assert not re.search("[<>\"']", "".join(pieces))


def test_candidates_begin_like_what_is_asked_for() -> None:
    sections = [("Brewing", "Brewers brew; a break, bed, a **go** and gone"), ("", "C++ 東京都 goes")]
    assert candidates(sections, ["brewed", "go", "东京", "c"]) == {
        "brewing", "brewers", "brew", "break", "go", "gone", "goes", "c", "cplusplus", "东京",
    }  # fmt: skip
    assert candidates(sections, []) == set()


@given(PAGES, TERMS)
def test_candidates_are_words_of_the_page_that_begin_so(sections: list[tuple[str, str]], terms: set[str]) -> None:
    every = {word for heading, body in sections for word in words(f"{heading}\n{body}")}
    assert candidates(sections, terms) == {
        word for word in every if any(word.startswith(term[:BEGINNING]) for term in terms)
    }
