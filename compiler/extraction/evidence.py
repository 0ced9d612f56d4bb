"""The lines that one source has for one section of one page, each decided by that source alone.

Planner and writer ask the same question: the planner cites a source for a section where there is an answer, the writer
puts the answers of all cited sources together.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from content.names import normalise
from content.normalization import fold
from content.search.words import SPACELESS

from ..planner import SourceText
from ..quoting import bullet
from . import metadata
from .decisions import Decision, decisions, follows, minor_decisions
from .language import stops_of
from .readings import ATTENDING, Reading
from .text import Sentence, folded, normalised, padded

QUOTE_MIN, QUOTE_GOOD = 12, (40, 220)
QUOTES_MAX = 2  # sentences of one source, each a line of its own
TELLING_MAX = 8  # words that say something: more make a sentence no better
SHORT = 25  # characters of an exclamation
DEFINITION = 3.0  # the score from which on a sentence says what something is
UNDEFINED = DEFINITION - 0.25  # at most, of one that does not
NAME_FIRST = 6  # characters before a name with which a sentence begins
BESIDE_MAX = 80  # characters before a name that may say what it is
LISTED_MIN = 3  # names and commas of a sentence that only lists them
HIGHLIGHT = 1.5
TELLS = 1.0  # the score of a second line of one day
NO_SENTENCE = 6.0  # less is said by a list of those who were there, or by a caption, than by anything else
CAPTION = re.compile(
    r"\W{0,3}\[[^\[\]]*\]?\W{0,3}$|\[(?:photo|image|picture|video|gif|sticker|foto|bild|图片|照片|写真)\b",
    re.IGNORECASE,
)
ONLY_TAGS = re.compile(r"(?:#\S+\s*)+")
UNNAMED = -1.0  # of a sentence that only stands in a note about it
ABOUT_TAGS = 4

COPULA = re.compile(
    r"^(?: \w+){0,3}? (?:is|are|was|e|sao|era|es|son|est|sont|ist|sind|war|sono|is een) (?:an?|the|one|um|"
    r"uma|o|a|une?|la|le|les|las|el|los|eine?n?|"
    r"der|die|das|il|my|our|his|her|their|mein|meine|unser|unsere|mon|ma|notre|nos|meu|minha|nosso|nossa|"
    r"mi|nuestro|nuestra|where|when)\b"
)
# What a sentence says a thing to be beside its name: `my lead is Oskar`, `her cat, Bishop.`, `a shop called Lantern`.
OWNER = (
    r"(?:my|our|his|her|their|the|an?|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}|d(?:er|ie|as|en|em)|ein\w{0,2}"
    r"|mon|ma|notre|son|sa|le|la|une?|meu|minha|nosso|nossa|seu|sua|um|uma|mi|su|el|il|lo)"
)
SAID_BEFORE = re.compile(
    rf"\b{OWNER} (?:[\w-]+ ){{0,2}}[\w-]+(?P<set_off>,)? (?(set_off)|(?:is|was|called|named|ist|war|heisst|namens|est"
    r"|s'appelle|e|se chama|es|se llama) )$"
)
SAID_BEHIND = re.compile(
    rf"^, (?:who|which|where|{OWNER} (?!(?:same|next|first|last|other) )[\w-]+(?: [\w-]+){{0,5}}[.,;)]|(?:der|die|das) "
    r"\w+[^.]{0,80}(?:t|en)[.,])"
)
RELATED_BEFORE = re.compile(r"\b(?:my|our|his|her|their|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}) [\w-]{3,} $")
SET_OFF = re.compile(r"^[.,;:)–—]|^ [–—-] |^$")
COPULA_SPACELESS = re.compile(
    "^ ?(?:就?是(?!不|否|很|因|在|我们去)|为一|とは|は[^。]{2,60}(?:です|である|だ)|เป็น|คือ|은 |는 )"
)
SPECIFIC = re.compile(
    r"\d|\b(?:best|worst|favou?rite|first|only|never|always|meilleur|beste|melhor|mejor)\b|最|一番|初めて|第一次",
    re.IGNORECASE,
)
# What somebody says of him- or herself in a conversation, where the speaker's name stands before it.
OF_ONESELF = re.compile(
    r"^ (?:i'm|im|i am|i work as|ich bin|ich arbeite als|je suis|sou|eu sou|soy|yo soy|sono) "
    r"(?:an?|the|one|ein|eine|une?|um|uma|una|il|la) "
)
STATE_OF_ONESELF = re.compile(
    r"^ (?:(?:i'm|im|i am) (?:an?|the|in|at|from|now|currently|working|living|studying|learning)"
    r"|i (?:have|live|work|love|like|want|need)|my \w+ (?:is|are|has)|ich (?:bin|habe|wohne|arbeite)"
    r"|mein\w* \w+ (?:ist|hat)|je (?:suis|travaille|habite)|j'(?:ai|habite)|eu (?:sou|tenho|moro)"
    r"|(?:yo )?(?:soy|tengo|vivo)) "
)
# A sentence that begins with the speaker, behind the name.
OF_THE_SPEAKER = re.compile(
    r"^(?: \w+){1,4}? (?:i|i'm|i've|i'd|i'll|im|we|we're|we've|ich|wir|je|j'|nous|eu|yo|io"
    r"|my \w+ (?:is|are|was|were|has|have)|mein\w* \w+ (?:ist|war|hat)) |^ ?\S{1,12}[我私僕俺]"
)
# What holds as long as nothing newer is said.
STATE = re.compile(
    r"^(?: \w+){0,3}? (?:is|are|has|have|lives|works|runs|costs|opens|closes|uses|owns|likes|loves|needs|wants|plans"
    r"|moved|became|joined|left|switched|ist|sind|hat|wohnt|arbeitet|kostet|öffnet|gehört|heißt|est|sont|habite"
    r"|travaille|coûte|é|tem|mora|trabalha|custa|tiene|vive|trabaja)\b"
    r"| (?:now|currently|nowadays|no longer|these days|jetzt|inzwischen|mittlerweile|nicht mehr|désormais|maintenant"
    r"|agora|ahora) |现在|目前|如今|已经是|今は|現在|いまは|今では"
)
GREETING = re.compile(
    r"^\W*(?:(?:hey|hi|hello|thanks|thank you|thx|wow|congrats|congratulations|bye|goodbye|see you|take care|sounds"
    r"|good (?:morning|night|luck|to)|great|nice|cool|awesome|yeah|yes|yep|no|ok|okay|sure|oh|haha|lol|woohoo|aww?"
    r"|hallo|danke|tschüss|bis (?:bald|später|dann)|salut|merci|bonjour|oi|olá|obrigad[oa]|hola|gracias)\b"
    r"|你好|您好|谢谢|謝謝|再见|哈哈|好的|こんにちは|ありがとう|おはよう|お疲れ)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The page that a section belongs to: its type, title and normalised names. `subject_of` makes one of each."""

    type: str
    title: str
    names: frozenset[str]


@lru_cache(maxsize=10_000)
def subject_of(type: str, title: str, names: frozenset[str]) -> Subject:
    """Return one object for equal subjects: a subject is looked up for each source of each section, by its value."""
    return Subject(type, title, names)


class EvidenceLine:
    """One line: what a source says, in quotes. `key` is compared with other lines; `is_now` says how something is."""

    __slots__ = ("_line", "about", "is_now", "key", "own_day", "score", "source", "texts")

    def __init__(
        self,
        source: SourceText,
        texts: tuple[str, ...],
        score: float,
        key: str,
        about: str = "",
        *,
        is_now: bool = False,
        day: date | None = None,
    ) -> None:
        self.source, self.texts, self.score, self.key, self.about = source, texts, score, key, about
        self.is_now = is_now
        self.own_day = day
        self._line: str | None = None

    @property
    def day(self) -> date:
        return self.own_day or self.source.captured_at.date()

    @property
    def line(self) -> str:
        if self._line is None:
            self._line = bullet(self.source, self.texts, self.about, self.own_day)
        return self._line


Evidence = Callable[[Reading, Subject], tuple[EvidenceLine, ...]]


def entries(slug: str, reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the lines of one source for one section; none where it has nothing to say there."""
    found: tuple[EvidenceLine, ...] | None = reading.entries.get((slug, subject))
    if found is None:
        found = reading.entries[slug, subject] = EVIDENCE.get(slug, _notes)(reading, subject)
    return found


def naming(reading: Reading, names: Iterable[str]) -> Sequence[Sentence]:
    """Return the sentences that say one of these names."""
    return reading.saying(frozenset(names))


def is_tagged(reading: Reading, subject: Subject, *kinds: str) -> bool:
    """Return whether the metadata says that the source is about the page."""
    given = reading.metadata
    return any(not subject.names.isdisjoint(given.get(kind, ())) for kind in kinds)


def definition(sentence: Sentence, names: Iterable[str]) -> float:
    """Score how well a sentence says what the thing is: `X is a …` scores DEFINITION or more."""
    best = 0.0
    good = QUOTE_GOOD[0] <= len(sentence.text) <= QUOTE_GOOD[1]
    for name in names:
        spaceless = SPACELESS.search(name)
        wanted = padded(name)
        at = sentence.words.find(wanted)
        if at < 0:
            continue
        rest = sentence.words[at + len(wanted) - (0 if spaceless else 1) :]
        is_question = sentence.text.endswith(("?", "？"))
        if not spaceless and not is_question and _is_set_beside(sentence.text, name):
            return DEFINITION + (at < NAME_FIRST) + good
        if at == 0 and normalise(sentence.speaker) == name:
            defines = OF_ONESELF.match(rest)
        else:
            defines = (COPULA_SPACELESS if spaceless else COPULA).match(rest) or (spaceless and COPULA.match(rest))
        is_first = at < 6
        best = max(
            best,
            DEFINITION * bool(defines and is_first and not is_question)
            + is_first
            + good
            + 0.5 * bool(spaceless and not good),
        )
    return best


def _is_set_beside(text: str, name: str) -> bool:
    """Return whether the sentence says beside the name what it is: `I fed her cat, Bishop.`"""
    told = fold(text)
    at = told.find(name)
    if at < 0:
        return False
    behind = told[at + len(name) :]
    said = told[max(0, at - BESIDE_MAX) : at]
    before = SAID_BEFORE.search(said)
    if RELATED_BEFORE.search(said) and SET_OFF.match(behind):
        return True
    return SAID_BEHIND.match(behind) is not None or (
        before is not None and (before["set_off"] is None or SET_OFF.match(behind) is not None)
    )


def telling(sentence: Sentence, names: Iterable[str], language: str) -> float:
    """Score how well a sentence leads a page: DEFINITION or more where it says what the thing is, else less."""
    defines, tells = definition(sentence, names), score_sentence(sentence, names, language)
    if GREETING.match(sentence.text):
        return min(tells, 0.0)
    if defines >= DEFINITION:
        return defines
    return min((defines + tells) / 2, UNDEFINED) if tells >= 0 else tells


def score_sentence(sentence: Sentence, names: Iterable[str], language: str) -> float:
    """Score how much a sentence says: greetings, questions, cries and lists of those present are below zero."""
    text, words = sentence.text, sentence.words
    if SPACELESS.search(text):
        telling = len(text) // 3
    else:
        stops = stops_of(language).union(*(name.split() for name in names))
        telling = sum(word not in stops for word in set(words.split()))
        others = [word for word in text.split()[1:] if word[0].isupper()] if language != "de" else []
        telling -= len(others) // 2
    speaker = normalised(sentence.speaker) if sentence.speaker else ""
    if speaker in names:
        placed = 1.0 if OF_THE_SPEAKER.search(words) else -1.0
    else:
        placed = 0.5 * any(0 <= words.find(padded(name)) < NAME_FIRST for name in names)
    named = sum(word[0].isupper() for word in text.split()[1:])
    return (
        min(telling, TELLING_MAX) / 4
        + placed
        + 0.5 * (QUOTE_GOOD[0] <= len(text) <= QUOTE_GOOD[1])
        + 0.25 * min(named, 2)
        + 0.5 * bool(SPECIFIC.search(text))
        - 2 * (text.endswith(("?", "？")) or (telling < TELLING_MAX and GREETING.match(text) is not None))
        - (text.endswith(("!", "！")) and len(text) < SHORT)
        - (named >= LISTED_MIN <= text.count(", "))
        - NO_SENTENCE * (any(form(text) for form in (ATTENDING.match, CAPTION.match, ONLY_TAGS.fullmatch)))
    )


def found_decision(reading: Reading, subject: Subject) -> Decision | None:
    """Return the decision that the page is about."""
    return next((one for one in decisions(reading) if normalise(one.title) in subject.names), None)


def _overview(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the sentence that says best what it is, and the last other one that says how it is."""
    said = _quotable(naming(reading, subject.names))
    scored = [(telling(one, subject.names, reading.language), one) for one in said]
    if not scored and subject.type == "topic":
        scored = [(UNNAMED, one) for one in _quotable(reading.sentences)[:1]]
    if not scored:
        return ()
    score, best = max(scored, key=lambda one: one[0])
    lead = _line(reading, best, subject, score)
    states = [one for tells, one in scored if one is not best and tells > 0 and _is_state(one, subject.names)]
    states.sort(key=lambda one: one.day or date.min)
    now = [_line(reading, one, subject, UNDEFINED, is_now=True) for one in states[-1:]]
    if score < DEFINITION and _is_state(best, subject.names):
        now.append(_line(reading, best, subject, UNDEFINED, is_now=True))
    return (lead, *now)


def _is_state(sentence: Sentence, names: Iterable[str]) -> bool:
    """Return whether the sentence says how something is, rather than what happened."""
    if GREETING.match(sentence.text):
        return False
    for name in names:
        wanted = padded(name)
        at = sentence.words.find(wanted)
        rest = sentence.words[at + len(wanted) - wanted.endswith(" ") :]
        is_own = at == 0 and normalise(sentence.speaker) == name
        if 0 <= at < NAME_FIRST and (STATE_OF_ONESELF.match(rest) if is_own else STATE.search(rest)):
            return True
    return False


def _notes(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Quote what a source says of the page, except for visits, which have a section of their own."""
    if subject.type == "entity" and is_tagged(reading, subject, "place"):
        return ()
    return (*(best := _best(reading, naming(reading, subject.names), subject)), *_decided(reading, subject, best))


def _decided(reading: Reading, subject: Subject, quoted: Iterable[EvidenceLine]) -> Iterator[EvidenceLine]:
    """Yield a whole sentence for each decision about the page that has none of its own, unless it is quoted."""
    said, keys = naming(reading, subject.names), {line.key for line in quoted}
    is_about = is_tagged(reading, subject, "title", "project", "person", "place")
    for one in minor_decisions(reading):
        near = (*one.before[-1:], one.sentence)
        if one.sentence.words not in keys and (is_about or any(sentence in said for sentence in near)):
            yield _line(reading, one.sentence, subject, score_sentence(one.sentence, subject.names, reading.language))


def _visits(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    if not is_tagged(reading, subject, "place"):
        return ()
    return _best(reading, reading.sentences, subject, _circumstances(reading.source))


def _highlights(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    best: dict[date, EvidenceLine] = {}
    for entry in _best(reading, _about(reading, subject), subject):
        best.setdefault(entry.day, entry)
    return tuple(entry for entry in best.values() if entry.score >= HIGHLIGHT)


def _recent(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    place = next(iter(metadata.texts(reading.source.metadata, "place")), "")
    return (*(best := _best(reading, _about(reading, subject), subject, place)), *_decided(reading, subject, best))


def _about(reading: Reading, subject: Subject) -> Sequence[Sentence]:
    return naming(reading, subject.names) or _tagged(reading, subject)


def _best(reading: Reading, said: Iterable[Sentence], subject: Subject, about: str = "") -> tuple[EvidenceLine, ...]:
    """Return the sentences of each day that say most, the best first, each once."""
    found = _quotable(said) or list(said)
    scored = [(score_sentence(one, subject.names, reading.language), -place, one) for place, one in enumerate(found)]
    lines: dict[str, EvidenceLine] = {}
    of_day: Counter[date | None] = Counter()
    for score, _, one in sorted(scored, key=lambda one: one[:2], reverse=True):
        enough = score >= (TELLS if of_day[one.day] else 0)
        if ONLY_TAGS.fullmatch(one.text):
            break
        if of_day[one.day] < QUOTES_MAX and (enough or not lines) and one.words not in lines:
            lines[one.words] = _line(reading, one, subject, score, about)
            of_day[one.day] += 1
    return tuple(lines.values())


def _line(
    reading: Reading, sentence: Sentence, subject: Subject, score: float, about: str = "", *, is_now: bool = False
) -> EvidenceLine:
    """Return a line of one sentence; of a conversation with who says it, unless the page is theirs."""
    speaker = sentence.speaker if normalise(sentence.speaker) not in subject.names else ""
    about = about or speaker
    return EvidenceLine(reading.source, (sentence.text,), score, sentence.words, about, is_now=is_now, day=sentence.day)


def _context(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    return _quotes(reading, decision.before) if decision else ()


def _decision(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    return _quotes(reading, (decision.sentence,)) if decision else ()


def _rationale(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    if decision is None or not decision.why:
        return ()
    return (EvidenceLine(reading.source, (decision.why,), 0.0, decision.why, day=decision.sentence.day),)


def _consequences(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    if decision:
        return _quotes(reading, decision.after)
    return _quotes(reading, [one for one in naming(reading, subject.names) if follows(one)])


def _quotes(reading: Reading, said: Iterable[Sentence], about: str = "") -> tuple[EvidenceLine, ...]:
    """Return one line with the first sentences."""
    said = list(said)
    chosen = (_quotable(said) or said)[:QUOTES_MAX]
    if not chosen:
        return ()
    if about := chosen[0].speaker or about:  # one line quotes one speaker
        chosen = [one for one in chosen if one.speaker == chosen[0].speaker]
    texts = tuple(one.text for one in chosen)
    words = " ".join(one.words for one in chosen)
    return (EvidenceLine(reading.source, texts, 0.0, words, about, day=chosen[0].day),)


def former_lines(slug: str, reading: Reading, subject: Subject) -> Iterator[str]:
    """Yield the lines that former versions wrote: of the first sentences of a source together, all of its day."""
    said: Sequence[Sentence] = naming(reading, subject.names)
    about = ""
    if slug == "visits":
        said, about = reading.sentences, _circumstances(reading.source)
    for chosen in (_quotable(said)[:QUOTES_MAX], _quotable(said)[:1]):
        if chosen:
            yield bullet(reading.source, tuple(one.text for one in chosen), about)
    for one in said:
        if one.day:
            yield _line(reading, one._replace(day=None), subject, 0.0).line


def _quotable(said: Iterable[Sentence]) -> list[Sentence]:
    return [one for one in said if len(one.text) >= QUOTE_MIN or (not one.text.isascii() and len(one.text) >= 4)]


def _tagged(reading: Reading, subject: Subject) -> Sequence[Sentence]:
    """Return the first sentence of a source tagged with the topic: a note that is about it need not say its name."""
    about = is_tagged(reading, subject, "tag", "city", "journal", "title", "project", "place")
    return reading.sentences[:1] if about else ()


def _circumstances(source: SourceText) -> str:
    """Return the city and tags: `Lisbon, food`"""
    return ", ".join([*metadata.cities(source.metadata)[:1], *metadata.tags(source)[:ABOUT_TAGS]])


EVIDENCE: dict[str, Evidence] = {
    "overview": _overview,
    "summary": _overview,
    "notes": _notes,
    "visits": _visits,
    "highlights": _highlights,
    "recent": _recent,
    "context": _context,
    "decision": _decision,
    "rationale": _rationale,
    "consequences": _consequences,
}


def says_capital(sentence: Sentence, name: str) -> bool:
    """Return whether a name of one word is written as a name; always so in scripts without capitals."""
    if SPACELESS.search(name):
        return True
    return any(name in _folded_words(word) for word in sentence.text.split() if not word.islower())


@lru_cache(maxsize=20_000)
def _folded_words(word: str) -> tuple[str, ...]:
    """Return the folded words of a word that begins with a capital, without the punctuation around it."""
    bare = word.strip(".,;:!?()“”\"'’«»")
    return tuple(folded(bare).split()) if bare[:1].isupper() else ()
