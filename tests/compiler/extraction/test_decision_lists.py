"""Minutes list their decisions: items below a heading or a label, without tasks and open points, and motions."""

import pytest

from compiler.extraction.decisions.decisions import decisions
from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import compiled, note, titles


def found(text: str) -> list[str]:
    """Return the titles of the decisions with pages in a text."""
    return [decision.title for decision in decisions(Reading(note(0, text)))]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Decisions\n\n- Paint the boathouse green\n", "Paint the boathouse green"),
        ("# Spring meeting\n\nDecisions:\n- Paint the boathouse green\n", "Paint the boathouse green"),
        ("**Decisions made**\n\n1. Paint the boathouse green\n", "Paint the boathouse green"),
        ("## Notes\n- Decision 4: paint the boathouse green\n", "Paint the boathouse green"),
        ("- [Decision] Paint the boathouse green\n", "Paint the boathouse green"),
        ("- Paint the boathouse green (decided)\n", "Paint the boathouse green"),
        ("We paint the boathouse green, it's decided. Rita brings the ladder.\n", "We paint the boathouse green"),
        ("## Beschlüsse\n\n- Das Bootshaus wird grün gestrichen\n", "Das Bootshaus wird grün gestrichen"),
        ("Beschlossen:\n- Bootshaus in Grün\n", "Bootshaus in Grün"),
        ("## Décisions prises\n\n* Le hangar sera vert\n", "Le hangar sera vert"),
        ("## Acuerdos\n\n- El cobertizo se pinta de verde\n", "El cobertizo se pinta de verde"),
        ("## Decisões\n\n- O barracão fica verde\n", "O barracão fica verde"),
        ("## Decisioni\n\n- La rimessa diventa verde\n", "La rimessa diventa verde"),
        ("## 決定事項\n\n- 艇庫は緑に塗る（木が傷んでいるため）\n", "艇庫は緑に塗る"),
        ("■ 決定事項\n・艇庫は緑に塗る\n", "艇庫は緑に塗る"),
        ("決定 → 艇庫は緑に塗る。ペンキは秋に買う\n", "艇庫は緑に塗る"),
        ("- 艇庫は緑に塗る（決定）\n", "艇庫は緑に塗る"),
        ("## 会议决议\n\n1. 船库刷成绿色\n", "船库刷成绿色"),
        ("## 결정 사항\n\n- 보트 창고를 초록색으로 칠한다\n", "보트 창고를 초록색으로 칠한다"),
        ("## Принятые решения\n\n- Покрасить лодочный сарай\n", "Покрасить лодочный сарай"),
        ("## Decisions\n\n- Option B.\n", "Option B"),
        ("## 決定事項\n\n- 案Bで行く。艇庫はトタン屋根にする\n", "艇庫はトタン屋根にする"),
    ],
)
def test_an_item_below_a_heading_or_label_for_decisions_is_one(text: str, title: str) -> None:
    assert found(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        "## Decisions\n\n- None\n",
        "## Decisions\n\nNo decisions.\n",
        "決定事項: 特になし\n",
        "## 決定事項\n\nなし\n",
        "## 決定事項\n\n- 屋根の件は結論出さず、次回に持ち越し\n",
        "## 決定事項\n\n- 森さんが見積もりを取る\n",
        "## Decisions\n\n- Which green?\n",
        "## Decisions\n\n- Roof deferred until the quotes are in\n",
        "## Decisions\n\n- Rita to order the paint\n",
        "## Decisions\n\n- Rita will order the paint\n",
        "## Beschlüsse\n\n- Dach vertagt\n",
        "## Beschlüsse\n\n- Rita kümmert sich um die Farbe\n",
        "## Décisions\n\n- Le toit : à discuter\n",
        "Decisions:\n\nTasks:\n- Order the paint\n",
        "決定:\n宿題:\n- ペンキの見積もり\n",
        "## Tasks\n\n- Paint the boathouse green\n",
    ],
)
def test_tasks_open_points_and_empty_lists_are_no_decisions(text: str) -> None:
    assert found(text) == []


def test_details_of_an_item_and_other_lists_are_no_decisions() -> None:
    text = (
        "## Decisions\n\n- Paint the boathouse green\n  - two coats of it\n- New oars come from Holt\n\n"
        "To do\n- Rita: paint\n\n## Other\n\n- The pier is icy\n"
    )
    assert found(text) == ["Paint the boathouse green", "New oars come from Holt"]


def test_a_list_below_a_paragraph_explains_the_decision() -> None:
    text = "## Decision\n\nWe use Flutter for the app.\n\n- It is quick\n- Rita knows it\n"
    assert found(text) == ["We use Flutter for the app"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Rita moved that the fee be raised to 30 pounds. Tom seconded. Carried.", "The fee be raised to 30 pounds"),
        ("Motion: to buy a second Holt trailer. Seconded by Tom, passed unanimously.", "Buy a second Holt trailer"),
        ("Moved by Rita, seconded by Tom, that the Holt trailer be sold. All in favour.", "The Holt trailer be sold"),
        ("Holt asked if we would share the pier in July; this was agreed by all.", "Share the pier in July"),
        ("The committee agreed to share the pier with Holt.", "Share the pier with Holt"),
        ("Der Vorstand beschließt einstimmig, den Steg mit Holt zu teilen.", "Steg mit Holt zu teilen"),
        ("Beitragserhöhung mit 14 Stimmen angenommen.", "Beitragserhöhung mit 14 Stimmen angenommen"),
        ("Se aprueba por unanimidad el presupuesto del muelle.",
         "Se aprueba por unanimidad el presupuesto del muelle"),
        ("Le bureau décide de partager le ponton avec Holt.", "Partager le ponton avec Holt"),
        ("La junta acuerda compartir el muelle con Holt.", "Compartir el muelle con Holt"),
        ("Fica decidido que o cais se partilha com a Holt.", "O cais se partilha com a Holt"),
        ("L'assemblea approva all'unanimità il bilancio del molo.",
         "L'assemblea approva all'unanimità il bilancio del molo"),
    ],
)  # fmt: skip
def test_a_motion_that_was_carried_is_a_decision_with_its_text_as_title(text: str, title: str) -> None:
    assert found(text) == [title]


def test_the_title_of_a_vote_is_what_was_voted_on() -> None:
    text = "Anwesend: Rita, Tom\n\n- Abstimmung über den Kauf des Anhängers.\n  - 9 Ja, 1 Nein\n"
    assert found(text.replace("9 Ja", "Abstimmung: 9 Ja")) == ["Kauf des Anhängers"]


@pytest.mark.parametrize(
    "text",
    [
        "Rita moved that the minutes be accepted. Tom seconded. Carried.",
        "Motion to approve the agenda by Rita, seconded by Tom. Carried.",
        "Rita moved that the fee be raised. Tom seconded. The motion failed, 2 to 9.",
        "Rita moved that the fee be raised.",
        "Das Protokoll der letzten Sitzung wird einstimmig genehmigt.",
        "Wenn ein Antrag einstimmig angenommen wird, gilt er sofort.",
        "The committee agreed with Tom.",
        "The board approved the minutes of the last meeting.",
    ],
)
def test_formalities_and_lost_motions_are_no_decisions(text: str) -> None:
    assert found(text) == []


def test_items_of_minutes_state_choices_without_a_verb_of_deciding() -> None:
    item = (
        "- Lautsprecher Holt 12 anstelle des Holt 8, da er lauter ist\n- Boote sollen nur zu zweit nach Holt fahren\n"
    )
    assert found(f"Anwesend: Rita, Tom\n\n{item}") == [
        "Lautsprecher Holt 12 anstelle des Holt 8",
        "Boote sollen nur zu zweit nach Holt fahren",
    ]
    assert found(item) == [], "only in minutes"


def test_the_order_of_notes_does_not_change_the_decisions_of_a_list() -> None:
    notes = [
        note(0, "## Decisions\n\n- Paint the boathouse green\n- Sell the Holt trailer\n"),
        note(1, "Rita moved that the pier be closed in winter. Tom seconded. Carried."),
    ]
    expected = {"Paint the boathouse green", "Sell the Holt trailer", "The pier be closed in winter"}
    assert set(titles(compiled(notes), "decision")) == expected
    assert set(titles(compiled(notes[::-1], batch=1), "decision")) == expected
