"""Sentences of a section are checked against the sources that support them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.claims.grounding import SENTENCES_MAX, Evidence, claim_sentences, newest_support

OLD, NEW = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
SOURCES = [
    Evidence("old", "Ana Ruiz lives in Porto.\nShe leads   sales at Harbour Coffee, with 12 people.", OLD),
    Evidence("new", "Ana Ruiz doesn't eat meat. I met Ana Ruiz. She still leads sales at Harbour Coffee.", NEW),
]
TEXTS = st.text(alphabet=st.sampled_from("ab AZ.?\n“”[]^-*#n't9 "), max_size=80)


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("- 2026-01-10: “She leads sales at Harbour Coffee, with 12 people.” [^old]", OLD),
        ("- 2026-01-10: “She leads sales at Harbour Coffee, with 13 people.” [^old]", None),
        ("- 2026-01-10: “Ana Ruiz lives in Porto.” [^new]", None),
        ("Ana Ruiz lives in **Porto**. [^old]", OLD),
        ("[[Ana Ruiz]] leads sales at Harbour Coffee.", NEW),
        ("Ana Ruiz leads sales with 12 people.", OLD),
        ("Ana Ruiz leads sales with 40 people.", None),
        ("Bruno Dias leads sales at Harbour Coffee.", None),
        ("Ana Ruiz does not eat meat.", NEW),
        ("Ana Ruiz eats meat.", None),
        ("The roastery burned down in spring.", None),
    ],
)
def test_a_sentence_is_supported_by_the_newest_source_that_says_so(line: str, at: datetime | None) -> None:
    assert newest_support(line, SOURCES) == [at]


@pytest.mark.parametrize(
    ("source", "quote", "is_supported"),
    [
        ("We had **dinner** at [[Places/Uchi|Uchi]].", "We had dinner at Uchi.", True),
        ("We had dinner\nat [Uchi](https://uchi.example), [again][1].", "We had dinner at Uchi, again.", True),
        ("Uchi&#8217;s menu isn&rsquo;t long.", "Uchi’s menu isn’t long.", True),
        ("We paid \\$20 \\*each\\*.", "We paid $20 *each*.", True),
        ("Dinner[^1] was good.", "Dinner was good.", True),
        ("Dinner for 112 people.", "for 12 people.", False),
        ("Dinner was **not** good.", "Dinner was good.", False),
        ("Dinner was good.", "…", False),
    ],
)
def test_a_source_supports_a_quote_of_its_text_without_markup(source: str, quote: str, is_supported: bool) -> None:
    assert newest_support(f"- 2026-01-10: “{quote}” [^old]", [Evidence("old", source, OLD)]) == [
        OLD if is_supported else None
    ]


def test_each_sentence_that_makes_a_claim_is_checked_by_itself() -> None:
    body = "\n".join(
        [
            "# Heading of it all",
            "Ana Ruiz lives in Porto. The moon is made of cheese. [^old]",
            "- … (+3)",
            "- [**Ana Ruiz**](/wiki/entity/ana) — Somebody who leads sales.",
            "- **Bruno** ×3 [^old]",
            "Yes.",
        ]
    )
    assert [sentence.text for sentence in claim_sentences(body)] == [
        "Ana Ruiz lives in Porto.",
        "The moon is made of cheese.",
    ]
    assert newest_support(body, SOURCES) == [OLD, None]
    assert newest_support(body, []) == [None, None]


@given(TEXTS, TEXTS)
def test_any_text_is_checked_against_any_source(body: str, source: str) -> None:
    found = newest_support(body, [Evidence("a", source, OLD)])
    assert len(found) == len(claim_sentences(body))
    assert set(found) <= {OLD, None}


@given(st.lists(st.sampled_from(["Ana Ruiz lives in Porto.", "She leads sales."]), max_size=5))
def test_a_text_supports_each_of_its_own_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert None not in newest_support(text, [Evidence("a", text, OLD)])


def test_the_number_of_checked_sentences_is_bounded() -> None:
    body = "Ana Ruiz lives in Porto. " * 10_000
    assert len(newest_support(body, SOURCES)) == SENTENCES_MAX
