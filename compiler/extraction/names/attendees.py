"""The people whom minutes list as present or absent."""

import re
from collections.abc import Iterator

from content.search.words import SPACELESS

from ..texts.text import clean
from .capitals import PARTICLES

WORDS_MAX = 6  # words of a name
BRACKETS = re.compile(r"\([^()]{0,60}\)|（[^（）]{0,60}）")
ATTENDEE_END = re.compile(r"[,;，、；/]| (?:and|und|et|e|y|og|en) | ?[&+] ?")
# The label before the names of those present or absent, in minutes.
ATTENDING = re.compile(
    r"\W{0,4}(?:(?:étaient|sont|estaban|estuvieron|estavam|estiveram|erano|es waren|waren|membres|personnes) )?"
    r"(?:attend(?:ees|ing|ed)|attendance|present|participants|apologies|regrets|absent|excused|"
    r"anwesend|anwesende|teilnehmer(?:innen|\*innen)?|teilnehmende|entschuldigt|abwesend|gäste|présente?s?|participante?s?|"
    r"absente?s?|excusée?s?|presentes|ausentes|participantes|asistentes|presenti|assenti|"
    r"出席|出席者|欠席者?|参加者?|与会者?|與會者?|缺席|请假)\W{0,4}[:：]",
    re.IGNORECASE,
)


def attendees(listed: str) -> Iterator[str]:
    """Yield the names of a list of people: `Ines Carvalho, Tobias (remote) and Wen Li`."""
    for item in ATTENDEE_END.split(BRACKETS.sub("", clean(listed))):
        item = item.rpartition(":")[2]  # `Gast: Frau Albers`
        words = item.strip(" .*_@").split()
        is_name = 0 < len(words) <= WORDS_MAX and all(word[0].isupper() or word in PARTICLES for word in words)
        if is_name or (len(words) == 1 and SPACELESS.search(item)):
            yield " ".join(words)
