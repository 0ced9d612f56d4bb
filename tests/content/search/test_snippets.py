"""A snippet of a page is chosen for a query, and its matching words are highlighted."""

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


def match_terms(terms: set[str]) -> Callable[[str], str | None]:
    return lambda word: word if word in terms else None


def snippet_for(sections: list[tuple[str, str]], *terms: str, length: int = LENGTH) -> Snippet:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), match_terms({*terms}), length)
    assert snippet is not None
    return snippet


def highlighted(snippet: Snippet) -> list[str]:
    return [snippet.text[start : start + length] for start, length in snippet.highlights]


def test_a_snippet_holds_the_words_of_the_query() -> None:
    snippet = snippet_for([("", FILLER), ("Drinks", f"{FILLER}The flat white is a coffee. {FILLER}")], "flat", "coffee")
    assert snippet.section == 1
    assert highlighted(snippet) == ["flat", "coffee"]
    assert len(snippet.text) <= LENGTH
    assert snippet.text[0] == snippet.text[-1] == "…"


def test_a_snippet_is_cut_between_words() -> None:
    snippet = snippet_for([("", f"{FILLER}coffee {FILLER}")], "coffee")
    assert set(snippet.text.strip("…").split()) <= {*FILLER.split(), "coffee"}


@pytest.mark.parametrize("letter", ["ที่", "e\u0301\u0323", "👩\u200d🔬", "👍🏽"])
def test_a_snippet_cuts_no_letter_from_its_marks(letter: str) -> None:
    for before in range(100, 100 + len(letter)):
        shown = choose([("", f"{letter * before} apple {letter * 200}")], {"apple": 1.0}, match_terms({"apple"}))
        assert shown is not None
        assert re.fullmatch(f"…(?:{letter})+ apple (?:{letter})+…", shown.text)


def test_a_short_text_is_shown_whole() -> None:
    assert snippet_for([("", "A coffee.")], "coffee") == Snippet(0, "A coffee.", ((2, 6),))


def test_different_words_count_more_than_repeated_ones() -> None:
    sections = [("", f"coffee coffee coffee coffee. {FILLER}coffee with milk")]
    assert highlighted(snippet_for(sections, "coffee", "milk")) == ["coffee", "milk"]


def test_rare_words_count_more_than_common_ones() -> None:
    sections = [("", f"one two. {FILLER}three")]
    snippet = choose(sections, {"one": 1.0, "two": 1.0, "three": 3.0}, match_terms({"one", "two", "three"}))
    assert snippet is not None
    assert highlighted(snippet) == ["three"]


def test_ties_go_to_the_section_with_more_hits_then_to_the_first() -> None:
    assert snippet_for([("", "tea"), ("", "tea tea"), ("", "tea tea")], "tea").section == 1
    assert snippet_for([("A", f"tea {FILLER}"), ("B", f"{FILLER} tea")], "tea").section == 0


def test_a_section_whose_heading_matches_is_chosen() -> None:
    sections = [("", "How to brew coffee, brew, coffee, brew."), ("Brew coffee", "Take water."), ("Coffee", "To brew.")]
    assert snippet_for(sections, "brew", "coffee") == Snippet(1, "Take water.")


def test_a_heading_of_only_matching_words_is_preferred() -> None:
    sections = [("Coffee and its history", "A coffee in Vienna."), ("Coffee", "A plant.")]
    assert snippet_for(sections, "coffee").section == 1


def test_a_matching_heading_without_text_is_the_snippet() -> None:
    assert snippet_for([("", "Water."), ("Why **coffee**", "")], "coffee") == Snippet(1, "Why coffee", ((4, 6),))


def test_without_a_match_the_snippet_is_the_beginning() -> None:
    sections = [("Empty", " \n"), ("Text", "The **beginning** of it."), ("More", "More.")]
    assert snippet_for(sections, "coffee") == Snippet(1, "The beginning of it.")
    assert snippet_for([("", FILLER)], "coffee", length=20) == Snippet(0, "Nothing of the…")


@pytest.mark.parametrize("sections", [[], [("", "")], [("Heading", "")], [("", "---\n\n***")]])
def test_sections_without_text_have_no_snippet(sections: list[tuple[str, str]]) -> None:
    assert choose(sections, {"coffee": 1.0}, match_terms({"coffee"})) is None


def test_the_caller_decides_which_words_match_a_term() -> None:
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
    assert highlighted(snippet_for([("", text)], *terms)) == pieces


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
def test_plain_text_leaves_out_marks_comments_and_control_characters(text: str, shown: str) -> None:
    assert plain_text(text) == shown


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_plain_text_is_the_same_whatever_the_line_ends(end: str) -> None:
    text = 'Kiln.\n\n---\n\n| a | b |\n|---|---|\n| c | d |\n\n[x]: https://x.org "t"\n\n```py\ncode\n```\nEnd.'
    assert plain_text(text.replace("\n", end)) == plain_text(text) == "Kiln. a b c d code End."


def test_html_marks_only_highlights_and_escapes_the_rest() -> None:
    snippet = snippet_for([("", "`<b>` & \"coffee\" 'x'")], "coffee")
    assert html(snippet) == "&lt;b&gt; &amp; &quot;<mark>coffee</mark>&quot; &#x27;x&#x27;"


@given(PAGES, TERMS, st.integers(-1, 300))
def test_highlights_are_matching_words_in_order_without_overlap(
    sections: list[tuple[str, str]], terms: set[str], length: int
) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), match_terms(terms), length)
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
def test_a_matching_section_is_chosen_and_highlighted(sections: list[tuple[str, str]], terms: set[str]) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), match_terms(terms), 100_000)
    matching = [n for n, (_, body) in enumerate(sections) if terms.intersection(words(plain_text(body)))]
    if snippet is None:
        assert not any(plain_text(body) for _, body in sections)
    elif matching and not any(terms.intersection(words(heading)) for heading, _ in sections):
        assert snippet.section in matching
        assert snippet.highlights


@given(PAGES, TERMS)
def test_html_without_its_marks_is_the_text(sections: list[tuple[str, str]], terms: set[str]) -> None:
    snippet = choose(sections, dict.fromkeys(terms, 1.0), match_terms(terms))
    if snippet is None:
        return
    pieces = re.split("</?mark>", html(snippet))
    assert unescape("".join(pieces)) == snippet.text
    assert [unescape(piece) for piece in pieces[1::2]] == highlighted(snippet)
    assert not re.search("[<>\"']", "".join(pieces))


def test_candidates_share_the_beginning_of_a_term() -> None:
    sections = [("Brewing", "Brewers brew; a break, bed, a **go** and gone"), ("", "C++ 東京都 goes")]
    assert candidates(sections, ["brewed", "go", "东京", "c"]) == {
        "brewing", "brewers", "brew", "break", "go", "gone", "goes", "c", "cplusplus", "东京",
    }  # fmt: skip
    assert candidates(sections, []) == set()


@given(PAGES, TERMS)
def test_candidates_are_all_words_that_share_the_beginning_of_a_term(
    sections: list[tuple[str, str]], terms: set[str]
) -> None:
    every = {word for heading, body in sections for word in words(f"{heading}\n{body}")}
    assert candidates(sections, terms) == {
        word for word in every if any(word.startswith(term[:BEGINNING]) for term in terms)
    }
