"""Sentences that say that something was decided."""

import pytest

from compiler.extraction.decisions import decisions
from compiler.extraction.sightings import Reading
from tests.compiler.extraction.stories import body, compiled, note, titles


def read(text: str) -> list[tuple[str, str]]:
    return [(one.title, one.why) for one in decisions(Reading(note(0, text)))]


@pytest.mark.parametrize(
    ("text", "title", "why"),
    [
        ("We decided to spend April in Lisbon because the flights are cheap.",
         "Spend April in Lisbon", "because the flights are cheap."),
        ("Marco and I decided to write it in Python, because it is quick.",
         "Write it in Python", "because it is quick."),
        ("Decidimos adiar a entrega porque faltam testes.", "Adiar a entrega", "porque faltam testes."),
        ("Nous avons décidé de revenir en octobre parce qu'il fait beau.",
         "Revenir en octobre", "parce qu'il fait beau."),
        ("我们决定每周三不开会，因为大家都写不完代码。", "每周三不开会", "因为大家都写不完代码。"),
        ("費用が高いので、自社サーバーをやめることにした。", "自社サーバーをやめる", "費用が高いので"),
        ("Decision: no meetings on Wednesday.", "No meetings on Wednesday", ""),
    ],
)  # fmt: skip
def test_a_decision_and_its_reason(text: str, title: str, why: str) -> None:
    assert read(text) == [(title, why)]


@pytest.mark.parametrize(
    "text",
    [
        "Have we decided to move?",
        "We have not decided yet.",
        "If we decided to go, Nora would cry.",
        "Nous n'avons pas encore décidé de la date.",
        "Haben wir das Zelt noch nicht entschieden?",
        "还没决定什么时候删掉旧的。",
        "이 방법을 사용하기로 결정했다면, 최소한 백업을 해두시기 바라요.",
        "She is decidedly kind.",
    ],
)
def test_what_is_open_is_no_decision(text: str) -> None:
    assert read(text) == []


def test_a_decision_page_says_context_decision_rationale_and_consequences() -> None:
    text = (
        "Three writers wait for each other. We chose PostgreSQL over SQLite since Marco needs several writers. "
        "Consequently the setup is harder."
    )
    wiki = compiled([note(0, text)])
    (title,) = titles(wiki, "decision")
    assert body(wiki, title, "context") == "- 2026-04-01: “Three writers wait for each other.” [^n0]"
    assert "We chose PostgreSQL over SQLite" in body(wiki, title, "decision")
    assert body(wiki, title, "rationale") == "- 2026-04-01: “since Marco needs several writers.” [^n0]"
    assert body(wiki, title, "consequences") == "- 2026-04-01: “Consequently the setup is harder.” [^n0]"


def test_the_same_decision_in_two_notes_has_one_page() -> None:
    text = "We decided to sell the car because the garage is dear."
    wiki = compiled([note(0, text), note(1, text)], batch=1)
    assert titles(wiki, "decision") == ["Sell the car"]
