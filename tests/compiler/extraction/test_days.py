"""One source with entries of several days: an exported chat, or a journal in one file."""

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


def test_days_of_one_chat_are_evidence_like_sources() -> None:
    wiki = compiled([note(0, CHAT)])
    assert set(titles(wiki)) == {"Henk", "Petra"}
    written = "\n".join(section.body for section in page(wiki, "Henk").sections.values())
    for day, said in (("03-12", "My uncle Henk"), ("03-14", "Henk came by"), ("03-28", "the roof is done")):
        assert f"- 2026-{day} — Petra: “{said}" in written


def test_lines_of_one_file_are_newest_first() -> None:
    lunches = [f"## 2026-04-{day:02}\n\nLunch number {day} with Joost.\n" for day in (2, 9, 4, 7)]
    written = body(compiled([note(0, "\n".join(lunches))]), "Joost", "notes")
    days = [line[2:12] for line in written.splitlines()]
    assert days == sorted(days, reverse=True)
    assert len(days) >= 3


def test_days_of_one_journal_are_evidence_like_sources() -> None:
    wiki = compiled([note(0, JOURNAL)])
    assert titles(wiki) == ["Joost"]
    written = "".join(section.body for section in page(wiki, "Joost").sections.values())
    assert [day in written for day in ("2026-03-09", "2026-03-12", "2026-03-20")] == [True] * 3


def test_a_name_of_one_day_in_a_long_file_is_held() -> None:
    days = [f"## 2026-03-0{day}\n\nNothing new." for day in range(1, 7)]
    wiki = compiled([note(0, "\n\n".join([*days, "Met Joost. Then Joost left. A letter for Joost."]))])
    assert not titles(wiki)
    assert "joost" in wiki.held


def test_a_day_ends_with_its_heading() -> None:
    found = {sentence.text: sentence.day for line in lines(JOURNAL) for sentence in line.sentences}
    assert str(found["Lunch with Joost at the canal."]) == "2026-03-09"
    assert found["Marieke could come, too."] is None


def test_what_the_messenger_tells_is_not_said() -> None:
    said = [sentence.text for line in lines(CHAT) for sentence in line.sentences]
    assert not any("created group" in text or "attached" in text for text in said)


def test_days_are_read_as_the_order_of_the_turns_tells() -> None:
    texts = {"day": ["03/02/2026", "04/02/2026", "01/03/2026"], "month": ["2/3/26", "2/4/26", "3/1/26"]}
    for written in texts.values():
        chat = "\n".join(f"[{day}, 10:0{at}:11] Mara: number {at}" for at, day in enumerate(written))
        days = [str(line.sentences[0].day) for line in lines(chat)]
        assert days == ["2026-02-03", "2026-02-04", "2026-03-01"]


def test_a_line_that_was_written_with_the_day_of_the_file_is_no_line_of_somebody() -> None:
    chat = note(0, CHAT)
    former = "- 2026-04-01 — Petra: “Henk came by, he needs twelve boards” [^n0]"
    task = SectionTask("entity", "Henk", frozenset({"henk"}), "notes", "Notes", f"{former}\n- Ask him.", (chat,))
    written = asyncio.run(ExtractiveWriter().write(task)).splitlines()
    assert written[0] == "- Ask him."
    assert former not in written


def test_a_sentence_with_and_without_a_day_describes_a_page_once() -> None:
    dated = "# 2026-03-02\n\nIt rained.\n\n# 2026-03-03\n\nWe saw the Kestrel again.\n"
    wiki = compiled([note(0, dated), note(1, "We saw the Kestrel again."), note(2, "We saw the Kestrel again.")])
    assert page(wiki, "Kestrel").card.summary == "We saw the Kestrel again."
