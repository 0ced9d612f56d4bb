"""Entries of several days in one source, a chat or a journal, count and are quoted with their own days."""

import asyncio

from compiler.extraction import ExtractiveWriter
from compiler.extraction.texts.text import lines
from compiler.planner import SectionTask
from tests.compiler.extraction.stories import body, compiled, note, page, titles

CHAT = """12/03/2026, 18:02 - Petra created group "Allotment 14"
12/03/2026, 18:09 - Petra: My uncle Henk can fix the roof, he was a carpenter
12/03/2026, 18:11 - Olu: wonderful
14/03/2026, 09:30 - Petra: Henk came by, he needs twelve boards
28/03/2026, 16:00 - Olu: IMG-20260328-WA0003.jpg (file attached)
28/03/2026, 16:01 - Petra: the roof is done now, Henk says so himself
"""
JOURNAL = """# Journal

## 9 March 2026

### Work

Lunch with Joost at the canal.

## 2026-03-12

Ran along the water with Joost again.

## Friday, March 20, 2026

Joost lent me a headlamp. We met Marieke.

# Ideas

Marieke could come, too.
"""


def test_each_day_of_a_chat_counts_as_a_source() -> None:
    wiki = compiled([note(0, CHAT)])
    assert set(titles(wiki)) == {"Henk", "Petra"}
    text = "\n".join(section.body for section in page(wiki, "Henk").sections.values())
    for day, quote in (("03-12", "My uncle Henk"), ("03-14", "Henk came by"), ("03-28", "the roof is done")):
        assert f"- 2026-{day} — Petra: “{quote}" in text


def test_lines_of_one_file_are_newest_first() -> None:
    lunches = [f"## 2026-04-{day:02}\n\nLunch number {day} with Joost.\n" for day in (2, 9, 4, 7)]
    text = body(compiled([note(0, "\n".join(lunches))]), "Joost", "notes")
    days = [line[2:12] for line in text.splitlines()]
    assert days == sorted(days, reverse=True)
    assert len(days) >= 3


def test_each_day_of_a_journal_counts_as_a_source() -> None:
    wiki = compiled([note(0, JOURNAL)])
    assert titles(wiki) == ["Joost"]
    text = "".join(section.body for section in page(wiki, "Joost").sections.values())
    assert [day in text for day in ("2026-03-09", "2026-03-12", "2026-03-20")] == [True] * 3


def test_a_name_on_one_day_of_a_long_file_is_held_without_a_page() -> None:
    days = [f"## 2026-03-0{day}\n\nNothing new." for day in range(1, 7)]
    wiki = compiled([note(0, "\n\n".join([*days, "Met Joost. Then Joost left. A letter for Joost."]))])
    assert not titles(wiki)
    assert "joost" in wiki.held


def test_a_date_heading_dates_only_the_sentences_of_its_section() -> None:
    days = {sentence.text: sentence.day for line in lines(JOURNAL) for sentence in line.sentences}
    assert str(days["Lunch with Joost at the canal."]) == "2026-03-09"
    assert days["Marieke could come, too."] is None


def test_chat_system_messages_are_not_sentences() -> None:
    sentences = [sentence.text for line in lines(CHAT) for sentence in line.sentences]
    assert not any("created group" in text or "attached" in text for text in sentences)


def test_day_month_order_is_inferred_from_the_order_of_the_turns() -> None:
    dates_by_order = {"day": ["03/02/2026", "04/02/2026", "01/03/2026"], "month": ["2/3/26", "2/4/26", "3/1/26"]}
    for dates in dates_by_order.values():
        chat = "\n".join(f"[{day}, 10:0{number}:11] Mara: number {number}" for number, day in enumerate(dates))
        days = [str(line.sentences[0].day) for line in lines(chat)]
        assert days == ["2026-02-03", "2026-02-04", "2026-03-01"]


def test_a_generated_line_dated_by_its_file_is_replaced() -> None:
    chat = note(0, CHAT)
    former = "- 2026-04-01 — Petra: “Henk came by, he needs twelve boards” [^n0]"
    task = SectionTask("entity", "Henk", frozenset({"henk"}), "notes", "Notes", f"{former}\n- Ask him.", (chat,))
    new_lines = asyncio.run(ExtractiveWriter().write(task)).splitlines()
    assert new_lines[0] == "- Ask him."
    assert former not in new_lines


def test_a_sentence_with_and_without_a_date_is_summarised_once() -> None:
    dated = "# 2026-03-02\n\nIt rained.\n\n# 2026-03-03\n\nWe saw the Kestrel again.\n"
    wiki = compiled([note(0, dated), note(1, "We saw the Kestrel again."), note(2, "We saw the Kestrel again.")])
    assert page(wiki, "Kestrel").card.summary == "We saw the Kestrel again."
