"""Fields at the top of a record name people and customers, and dated comments below are quoted with their days."""

from compiler.extraction.readings import Reading
from content.notes.fields import NO_RECORD, record_of
from tests.compiler.extraction.stories import body, compiled, note, notes, page, titles

TICKET = """Ticket: K-{number}
Status: closed
Priority: high
Customer: Marlow Bakery
Reported by: Petra Lind (shop)
Assigned to: Idris Kone
Opened: 2024-05-0{number} 08:14

{problem}

2024-05-0{number} 09:01 Idris Kone: {comment}
"""
PROBLEMS = (
    ("The oven does not start.", "Replaced the fuse of the upper plate."),
    ("The till prints twice.", "Removed the second driver."),
    ("The door squeaks again.", "Oiled the hinges and the spring."),
)
TICKETS = [
    TICKET.format(number=number, problem=problem, comment=comment)
    for number, (problem, comment) in enumerate(PROBLEMS, 1)
]


def test_record_fields_earn_pages_for_people_and_customers_not_labels() -> None:
    wiki = compiled(notes(*TICKETS))
    assert titles(wiki, "entity") == ["Idris Kone", "Marlow Bakery"]
    assert "The oven does not start." in body(wiki, "Marlow Bakery", "notes")


def test_a_comment_is_quoted_with_its_day_and_without_its_timestamp() -> None:
    texts = "".join(section.body for section in page(compiled(notes(*TICKETS)), "Idris Kone").sections.values())
    assert "- 2024-05-02: “Removed the second driver.”" in texts
    assert "09:01" not in texts
    assert "Priority" not in texts


def test_record_fields_name_people_and_parties() -> None:
    found = record_of(TICKETS[0].splitlines())
    assert (found.people, found.parties) == (("Petra Lind", "Idris Kone"), ("Marlow Bakery",))
    found = record_of(["# Outage", "", "- **Status:** resolved", "- **Owner:** Bo Ek, Ana de Sá", "- **Area:** mail"])
    assert (found.people, len(found.lines), len(found.dropped)) == (("Bo Ek", "Ana de Sá"), 3, 2)


def test_chats_and_texts_with_other_labels_are_no_records() -> None:
    chat = "Anna: hello\nBen: are you there\nCleo: yes\nAnna: good\nBen: see you at the pool"
    assert record_of(chat.splitlines()) == NO_RECORD
    assert {sentence.speaker for sentence in Reading(note(0, chat)).sentences} == {"Anna", "Ben", "Cleo"}
    assert record_of(["We met.", "Status: open", "Owner: Bo Ek", "Date: today"]) == NO_RECORD
    assert record_of(["Ingredients: flour", "Servings: four", "Author: Bo Ek"]) == NO_RECORD


def test_a_long_field_value_stays_text() -> None:
    lines = ["Status: accepted", "Owner: Bo Ek", "Impact: nobody could log in for two hours."]
    assert [line.raw for line in Reading(note(0, "\n".join(lines))).lines] == lines[2:]
