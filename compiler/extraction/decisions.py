"""Decisions in a source: sentences in which its writer or a team says that something was decided.

A decision gets a page of its own if it names something or gives a reason, or if it stands under a label or heading like
*Decision*. All others are minor decisions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from content.names import normalise
from content.search.words import SPACELESS
from content.sentences import first_sentence

from .decision_statements import CONTRAST, HEADED, Stated, find_statement, may_decide
from .names.attendees import ATTENDING
from .names.capitals import runs
from .readings import Reading
from .texts.language import stops_of, word_set
from .texts.text import Sentence, fold_text, padded

TITLE_MAX = 90
UNSURE = frozenset({"open", "bold", "quote", "noun", "titled"})  # marks that do not prove a name
WORD_MIN = 3  # letters of a word that relates two sentences

POINTERS = word_set(
    "it that this them these those one ones so him her something anything nothing both either es das ça"
)
WHY = re.compile(
    r"[,;，、]?\s*(?:['’]cause\b|\b(?:because|as (?=(?:only|nobody|no one|there)\b)|since(?! (?:\d|then|last|yesterday"
    r"|early|late|mid)\b)|so that|porque|pois"
    r"|vu que|vu qu['’]|visto que|visto che|dado que|dato che|siccome|poiché|dal momento che|puesto que|ya que"
    r"|uma vez que|étant donné qu"
    r"|já que|parce que|parce qu['’]|car (?=(?:il|"
    r"elle|on|le|la|les|nous|je|un|une|tout|ça|sans|ce|cette|ces|son|sa|ses|notre|nos|\w+[ei]r)\b|[cjl]['’]"
    r"|(?-i:[A-ZÀ-Þ]))|puisque|weil|denn|damit|perché|porque|"
    r"потому что)\b|因为|因為|为了|以便|เพราะ)|,\s+as\b(?! (?:well|soon|long|far|if|much|many)\b)",
    re.IGNORECASE,
)
# `da` is a word of Romance languages, too.
GERMAN_WHY = re.compile(r", da (?=\w)")
REASON = re.compile(r"(?:reasons?|begründung|gr[uü]nde?|raisons?|motiv[oi]s?|理由|原因)\s?[:：]", re.IGNORECASE)
WHY_BEFORE = re.compile(r"^(?P<why>.{3,150}?(?:ので|から|ため|때문에|因此|所以))に?[、,，]?")
SO = re.compile(
    r"\b(?:consequently|as a result|therefore|that means|por isso|por lo tanto|assim|du coup|"
    r"par conséquent|deshalb|folglich|daher|damit|quindi|поэтому)\b|因此|所以|结果|その結果|そのため|"
    r"따라서",
    re.IGNORECASE,
)
# A negation at the end of a match of TAKEN, which must stay in the title.
REFUSED = re.compile(r"\b(?:against|não)$", re.IGNORECASE)
FOR_OR_AGAINST = re.compile(r"da(?:für|gegen)", re.IGNORECASE)
LEADING = re.compile(r"^(?:(?:to|that|on|por|que|de|zu|di|pour|para|dass|de[nm])\s+|d['’]|了|要)(?=\S)", re.IGNORECASE)
GERMAN_END = re.compile(r",?\s*(?:entschieden|beschlossen|geeinigt|vereinbart)\b.*$", re.IGNORECASE)
JAPANESE_END = re.compile(
    r"(?:する|)(?:ことにした|ことにしました|ことに決めた|に決めた|に決めました|ことに決定|に決定)。?$"
)
LATIN = re.compile("[A-Za-z]{2}")  # a name, in a text of a script without spaces
EDGES = " ,.;:。!！、…"
# Additions that do not belong into the title: `sell the car, by the way`, `drop it; Ana does the rest`.
ASIDE = re.compile(
    r",? (?:by the way|btw|after all|in the end|for now|übrigens|au fait|d'ailleurs|aliás|por cierto)(?=,|$)"
    r"|, (?:which|who|que|qui|o que|a qual|lo cual|was|was wir) .*$"
    r"|[;；].*$"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that a source states."""

    title: str
    """The decision in a few words, the title of its page."""
    sentence: Sentence
    why: str
    """The reason, from the same or the next sentence, or an empty string."""
    before: tuple[Sentence, ...]
    """The sentences before it that belong to it."""
    after: tuple[Sentence, ...]
    """The sentences after it that say what followed."""
    has_page: bool = True
    """Whether it gets a page. If not, it becomes a line on the page that it is about."""


def decisions(reading: Reading) -> tuple[Decision, ...]:
    """Return the decisions of a source that get pages, in order."""
    return tuple(decision for decision in _all(reading) if decision.has_page)


def minor_decisions(reading: Reading) -> tuple[Decision, ...]:
    """Return the decisions of a source that get no pages, in order."""
    return tuple(decision for decision in _all(reading) if not decision.has_page)


def _all(reading: Reading) -> tuple[Decision, ...]:
    """Return all decisions of a source, which are stored with its reading."""
    if reading.decisions is None:
        text = "\n".join(sentence.text for sentence in reading.sentences)
        reading.decisions = tuple(_decisions(reading)) if may_decide(text) or _is_headed(reading) else ()
    found: tuple[Decision, ...] = reading.decisions
    return found


def _decisions(reading: Reading) -> Iterator[Decision]:
    """Yield the decisions in the sentences of a source, with the sentences around them."""
    sentences = reading.sentences
    index = -1
    for line in reading.lines:
        is_headed = HEADED.fullmatch(line.heading) is not None
        for place, sentence in enumerate(line.sentences):
            index += 1
            stated = find_statement(sentence.text, is_headed=is_headed and not place)
            if stated is None or (found := _decision(sentence.text, stated, reading)) is None:
                continue
            title, object, why = found
            later = sentences[index + 1 : index + 4]
            if not why and later and _gives_reason(later[0]):
                why, later = later[0].text, later[1:]
            before = tuple(
                _leading_up(sentence, sentences[max(0, index - 2) : index], line.sentences, reading.language)
            )
            after = tuple(filter(follows, later))
            yield Decision(title, sentence, why, before, after, _has_page(reading, stated, object, why))


def _leading_up(
    decided: Sentence, before: Sequence[Sentence], line: Sequence[Sentence], language: str
) -> Iterator[Sentence]:
    """Yield the sentences before a decision that are in the same line or share a word with it."""
    words = {word for word in decided.words.split() if len(word) >= WORD_MIN} - stops_of(language)
    for sentence in before:
        shares_word = SPACELESS.search(sentence.text) is not None or not words.isdisjoint(sentence.words.split())
        if (sentence in line or shares_word) and not ATTENDING.match(sentence.text):
            yield sentence


def follows(sentence: Sentence) -> bool:
    """Return whether the sentence states a consequence."""
    return SO.search(sentence.text) is not None


def _is_headed(reading: Reading) -> bool:
    return any(line.heading and HEADED.fullmatch(line.heading) for line in reading.lines)


def _gives_reason(sentence: Sentence) -> bool:
    return (WHY.match(sentence.text) or REASON.match(sentence.text)) is not None


def _decision(text: str, stated: Stated, reading: Reading) -> tuple[str, str, str] | None:
    """Return (title, object, reason) of a decision: the object is what was decided. None if there is no object.

    The title includes the verb if the object alone is only a word or a name.
    """
    why = WHY.search(text, stated.end)
    if why is None and reading.language == "de":
        why = GERMAN_WHY.search(text, stated.end)
    before = WHY_BEFORE.match(text) if not why and not text.isascii() else None
    reason = text[why.start() :].lstrip(" ,;，、") if why else before["why"] if before else ""
    taken = text[stated.start : stated.end]
    what = text[stated.end : why.start() if why else len(text)]
    if len(what.strip(" .。!")) < 4:  # the verb is at the end of the sentence
        what = text[before.end() if before else 0 : why.start() if why else len(text)]
        what = JAPANESE_END.sub("", what)
    elif refused := REFUSED.search(taken):
        what = text[stated.start + refused.start() : why.start() if why else len(text)]
    elif re.search(r"\b(?:not|never|no longer)\b", taken):
        what = text[stated.start : why.start() if why else len(text)]
    what = LEADING.sub("", ASIDE.sub("", GERMAN_END.sub("", what).strip(EDGES)), count=1).strip(EDGES)
    if not any(map(str.isalpha, what)):
        return None
    object = what
    is_word = " " not in what and not SPACELESS.search(what)
    if sighting := reading.sightings.get(normalise(what)):  # a compound in a script without spaces tells enough
        is_word = is_word or sighting.marks != {"noun"} or not SPACELESS.search(what)
    if is_word or FOR_OR_AGAINST.fullmatch(what):
        what = text[stated.start : why.start() if why else len(text)].strip(EDGES)
    title = first_sentence(what, TITLE_MAX)
    return title[:1].upper() + title[1:], object, reason


def _has_page(reading: Reading, stated: Stated, object: str, why: str) -> bool:
    """Return whether a decision gets a page: it names something or has a reason, or is sure by its label or heading."""
    if stated.is_sure:
        return True
    words, is_named = fold_text(object).split(), _has_name(reading, object)
    if not words or words[-1] in POINTERS:
        return False
    if stated.is_weak:
        return bool(why) and (is_named or CONTRAST.search(object) is not None)
    return is_named or bool(why)


def _has_name(reading: Reading, object: str) -> bool:
    """Return whether the object of a decision contains a name."""
    said = fold_text(object)
    if any(padded(key) in said for key, sighting in reading.sightings.items() if sighting.marks - UNSURE):
        return True
    if reading.language == "de":
        return any(run.is_sure or run.is_bare for run in runs(object, "de"))
    return SPACELESS.search(object) is not None and LATIN.search(object) is not None
