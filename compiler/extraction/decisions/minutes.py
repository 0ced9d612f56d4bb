"""Items of minutes that state a decision, without a verb that says so."""

import re
from collections.abc import Sequence

from ..names.attendees import ATTENDING
from ..texts.text import TextLine
from .stated import Stated

MINUTES = re.compile(
    r".{0,30}(?:anwesend|teilnehme|attend|present|minutes|protokoll|tagesordnung|agenda|ordre du jour|présents"
    r"|presentes"
    r"|orden del día|ordine del giorno|presenti|議題|出席|议程|參加者|参加者)",
    re.IGNORECASE,
)
# An alternative that was not taken, or a rule for later.
CHOICE = re.compile(
    r"\banstelle\b|(?<!\d )\b(?:an)?statt\b"
    r"|, (?:nicht|not|pas) (?:mehr )?(?:über|mit|bei|als|via|with|by|as|over|through|on|avec|par)\b"
    r"|\bsoll(?:en)? (?:\(?in Zukunft\)?|künftig|ab jetzt|nicht(?! nur)|nur)(?!\w)",
    re.IGNORECASE,
)
OPINION = re.compile(
    r"\b(?:wäre|könnten?|würden?|sollten?|vorschl\w*|idee\w*|vermutlich|vielleicht|evtl|ggf|eventuell|prüfen|klären"
    r"|meint|findet"
    r"|would|could|should|might|may|suggest\w*|propos\w*|ideas?|maybe|perhaps|probably|thinks?|check|serait|pourrait"
    r"|propose"
    r"|peut-être|idée|sería|podría|propone|quizás|seria|poderia|propõe|talvez|sarebbe|potrebbe|forse)\b|[?？]",
    re.IGNORECASE,
)


def is_minutes(lines: Sequence[TextLine]) -> bool:
    """Return whether a source is minutes: it lists those present, or has a heading for them or for the agenda."""
    return any(MINUTES.match(heading) for heading in dict.fromkeys(line.heading for line in lines)) or any(
        ATTENDING.match(line.raw) for line in lines if ":" in line.raw or "：" in line.raw
    )


def find_statement(text: str) -> Stated | None:
    """Return the position of the decision that an item of minutes states, or None if it states none."""
    if OPINION.search(text) or (choice := CHOICE.search(text)) is None:
        return None
    return Stated(choice.start(), choice.start(), is_whole=True)
