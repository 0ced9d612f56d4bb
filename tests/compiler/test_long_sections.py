"""Sections with more sources than their writer is given stay short and keep the lines of people."""

import random
import re
from datetime import timedelta

from compiler.compiler import Caps, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from resolvers.pages.lifecycle import update_page
from resolvers.sources.retain import SourceDraft
from tests.compiler.austin_journals import START, note, retain_notes
from tests.compiler.scripted_compiler import compile_all, pages_by_title
from tests.wiki import Wiki

BATCH = 20
RULES = Compiler(ExtractivePlanner(), ExtractiveWriter(), Caps(batch=BATCH))
MINE = "- Never open the oven early."
DAY = re.compile(r"^- (\d{4}-\d\d-\d\d)")


def loaves(first: int, last: int) -> list[SourceDraft]:
    """Return a note for each day: a definition every tenth day, else a result that is drawn at random."""
    chance, results = random.Random(first), ("with Priya and Marco", "dark", "best")
    return [
        note(
            day,
            f"Sourdough is a bread that rests {day + 100} hours before it goes into the oven."
            if day % 10 == 0
            else f"Sourdough number {day + 100} came out {chance.choice(results)}, {random_words(chance)}.",
            tags=["sourdough"],
        )
        for day in range(first, last)
    ]


def random_words(chance: random.Random) -> str:
    """Return random words, since a text that hardly differs from the stored one is not written."""
    return " ".join("".join(chance.choices("abcdefghijklmnop", k=9)) for _ in range(4))


def lines(body: str, heading: str) -> list[str]:
    section = body.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("- ")]


async def test_a_section_of_two_hundred_sources_stays_short_and_keeps_edits(wiki: Wiki) -> None:
    await retain_notes(wiki, loaves(0, BATCH))
    await compile_all(wiki, RULES)
    page = (await pages_by_title(wiki))["Sourdough"]
    oldest = lines(page["body_md"], "Highlights")[-1]
    edited = oldest.replace("came out", "came out (I think)")
    assert edited != oldest
    body = page["body_md"].replace(oldest, f"{edited}\n{MINE}")
    await update_page(wiki.database, wiki.scope, page["id"], body=body)
    for first in range(BATCH, 200, BATCH):
        await retain_notes(wiki, loaves(first, first + BATCH))
        await compile_all(wiki, RULES)
    body = (await pages_by_title(wiki))["Sourdough"]["body_md"]
    highlights, summary = lines(body, "Highlights"), lines(body, "Summary")
    assert highlights[:2] == [edited, MINE]
    assert len(highlights) == 2 + 6
    days = [found[1] for line in highlights[2:] if (found := DAY.match(line))]
    assert days == sorted(days, reverse=True)
    assert days[0] >= (START + timedelta(days=180)).date().isoformat()
    assert len(summary) == 2
