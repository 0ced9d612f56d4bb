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

from ..names.attendees import ATTENDING
from ..names.capitals import runs
from ..readings import Reading
from ..texts.language import stops_of, word_set
from ..texts.metadata import short_name
from ..texts.text import Sentence, fold_text, padded
from . import spaceless, titles
from .sentences import CONTRAST
from .stated import Stated
from .statements import statements

TITLE_MAX = 90
UNSURE = frozenset({"open", "bold", "quote", "noun", "titled"})  # marks that do not prove a name
WORD_MIN = 3  # letters of a word that relates two sentences

POINTERS = word_set(
    "it that this them these those one ones so him her something anything nothing both either es das ça"
)
VAGUE = word_set("do go make take get have use buy now today then ahead there here with for to")
WHY = re.compile(
    r"[,;，、]?\s*(?:['’]cause\b|\b(?:because|as (?=(?:only|nobody|no one|there)\b)|since(?! (?:\d|then|last|yesterday"
    r"|early|late|mid)\b)|so that|porque|pois"
    r"|vu que|vu qu['’]|visto que|visto che|due to|wegen|aufgrund|à cause|faute de|debido a|a causa|devido a|из-за"
    r"|dado que|dato che|siccome|poiché|dal momento che|puesto que|ya que"
    r"|uma vez que|étant donné qu"
    r"|já que|parce que|parce qu['’]|car (?=(?:il|"
    r"elle|on|le|la|les|nous|je|un|une|tout|ça|sans|ce|cette|ces|son|sa|ses|notre|nos|\w+[ei]r)\b|[cjl]['’]"
    r"|(?-i:[A-ZÀ-Þ]))|puisque|weil|denn|damit|perché|porque|"
    r"потому что)\b|因为|因為|为了|以便|เพราะ)|,\s+(?:(?:way |far |just |simply )?too (?=\w)|trop (?=\w)|troppo (?=\w)"
    r"|demasiad[oa]s? (?=\w)|zu (?=(?:teuer|spät|viel|wenig|weit|alt|aufw[eä]ndig|kompliziert|langsam|laut|groß|klein"
    r"|schwer"
    r"|umständlich|unsicher|riskant|stressig)\b))|,\s+as\b(?! (?:well|soon|long|far|if|much|many)\b)",
    re.IGNORECASE,
)
# `da` is a word of Romance languages, too.
GERMAN_WHY = re.compile(r",? da (?=\w+ )|, (?=(?:die|der|das|es|wir|ich|sie|mein|unser)\b[^,.]{3,80}\bsonst\b)")
# A reason after a decision in English: `sell it, as it is damp`, but not `as we said`.
AS_IT_IS = re.compile(
    r",? as (?=(?:it|there|he|she|they|i|we)(?:['’](?:s|re|m)| (?:is|was|are|were|am|need|have|has|can['’]t|don['’]t"
    r"|doesn['’]t))\b)",
    re.IGNORECASE,
)
# A reason before a decision: `The bill doubled, so we moved it.`
HENCE = re.compile(
    r"(?:so|therefore|hence|that['’]s why|which is why|deshalb|daher|darum|drum|deswegen|also|du coup|donc|alors"
    r"|así que|por eso|por lo que|então|por isso|quindi|perciò|поэтому)\b",
    re.IGNORECASE,
)
SO_BEFORE = re.compile(rf"(?P<why>.{{8,200}}?)[,;:.–—-]* *\b{HENCE.pattern},? *$", re.IGNORECASE)
REASON = re.compile(
    r"(?:reasons?|why|warum|pourquoi|grund dafür|begründung|gr[uü]nde?|raisons?|motiv[oi]s?|理由|原因)\s?[:：]",
    re.IGNORECASE,
)
WHY_BEFORE = re.compile(r"^(?P<why>.{3,150}?(?:ので|から(?=[、,，])|ため|때문에|因此|所以))に?[、,，]?")
SO = re.compile(
    r"\b(?:consequently|as a result|therefore|that means|por isso|por lo tanto|assim|du coup|"
    r"par conséquent|deshalb|folglich|daher|damit|quindi|поэтому)\b|因此|所以|结果|その結果|そのため|"
    r"따라서",
    re.IGNORECASE,
)
# A negation at the end of a match of TAKEN, which must stay in the title.
REFUSED = re.compile(r"\b(?:against|não)$", re.IGNORECASE)
FOR_OR_AGAINST = re.compile(r"da(?:für|gegen)", re.IGNORECASE)
LEADING = re.compile(
    r"^(?:(?:yes|yeah|ok|okay|right|well|and|but|so),? (?=we|i\b))?"
    r"(?:(?:to|that|on|por|que|de|zu|di|pour|para|dass|de[nm])\s+|d['’]|了|要)(?=\S)",
    re.IGNORECASE,
)
# When or how it was decided, in English: `decided at the meeting to hire`, but not `agreed in principle to hire`.
WHEN = re.compile(
    r"^(?:(?:earlier|yesterday|today|tonight|recently|finally|eventually|unanimously|together|last"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b[^,.;:!?()]{0,40}?"
    r"|(?:at|in|during|over)\b(?! (?:principle|favou?r|to)\b) [^,.;:!?()]{1,40}?)"
    r" (?=(?:not )?to \w|that \w)",
    re.IGNORECASE,
)
GERMAN_END = re.compile(r",?\s*(?:entschieden|beschlossen|geeinigt|vereinbart)\b.*$", re.IGNORECASE)
JAPANESE_END = re.compile(
    r"(?:する|)(?:ことにした|ことにしました|ことに決めた|に決めた|に決めました|ことに決定|に決定)。?$"
)
LATIN = re.compile(r"[A-Za-z]{2}|\d ?(?:月|年|%|号|台|个月)")  # a name, in a text of a script without spaces
EDGES = " ,.;:。!！、…→⇒–—>=・•■"
BRACKETS_AFTER = re.compile(r" ?[（(][^（()）]{2,150}[)）]?$")
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
        stated = tuple(_decisions(reading))
        titled = _titled(reading, stated)
        reading.decisions = (*stated, titled) if titled else stated
    found: tuple[Decision, ...] = reading.decisions
    return found


def _decisions(reading: Reading) -> Iterator[Decision]:
    """Yield the decisions in the sentences of a source, with the sentences around them."""
    sentences = reading.sentences
    for line, index, at, text, stated in statements(reading):
        if (found := _decision(text, stated, reading)) is None:
            continue
        (title, object, why), sentence = found, line.sentences[at]
        later = sentences[index + at + 1 : index + at + 4]
        if not why and later and _gives_reason(later[0]):
            why, later = later[0].text, later[1:]
        elif not why and at and HENCE.match(text):
            why = line.sentences[at - 1].text
        elif why not in sentence.text:
            why = sentence.text
        before = tuple(
            _leading_up(sentence, sentences[max(0, index + at - 2) : index + at], line.sentences, reading.language)
        )
        after = tuple(filter(follows, later))
        yield Decision(
            title,
            sentence,
            why,
            before,
            after,
            _has_page(reading, stated, object, why),
        )


def _titled(reading: Reading, stated: Sequence[Decision]) -> Decision | None:
    """Return the decision that the title of a post states, unless one of its text has a word in common with it.

    It quotes the first sentence that shares a word with the title.
    """
    title = short_name(reading.source.title) or (reading.lines[0].heading if reading.lines else "")
    position = titles.find_statement(title, reading.language) if title else None
    if position is None or not titles.is_personal(reading.sentences):
        return None
    found = _decision(title, position, reading)
    if found is None or not _has_name(reading, found[1]):
        return None
    words = {word for word in fold_text(found[1]).split() if len(word) >= WORD_MIN} - stops_of(reading.language)
    if any(decision.has_page and not words.isdisjoint(fold_text(decision.title).split()) for decision in stated):
        return None
    quoted = next((one for one in reading.sentences if not words.isdisjoint(one.words.split())), None)
    return Decision(found[0], quoted, "", (), ()) if quoted else None


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


def _gives_reason(sentence: Sentence) -> bool:
    return (
        WHY.match(sentence.text)
        or REASON.match(sentence.text)
        or spaceless.WHY.match(sentence.text)
        or spaceless.REASON.match(sentence.text)
    ) is not None


def _decision(text: str, stated: Stated, reading: Reading) -> tuple[str, str, str] | None:
    """Return (title, object, reason) of a decision: the object is what was decided. None if there is no object.

    The title includes the verb if the object alone is only a word or a name.
    """
    start = 0 if stated.is_whole else stated.start
    end = 0 if stated.is_whole else stated.end
    until = len(text) if stated.until is None else stated.until
    why = _why(text, stated.end, "" if stated.is_whole and reading.language == "en" else reading.language)
    before = None
    if not why:
        before = (
            SO_BEFORE.match(text[:start])
            or SO_BEFORE.match(text[:end])
            or (None if text.isascii() else WHY_BEFORE.match(text))
        )
    reason = text[why.start() :].lstrip(" ,;，、(（") if why else before["why"] if before else ""
    until = min(until, why.start()) if why else until
    taken = text[start:end]
    what = text[end:until]
    if len(what.strip(" .。!")) < 4:  # the verb is at the end of the sentence
        what = text[before.end() if before else 0 : until]
        what = JAPANESE_END.sub("", what)
    elif refused := REFUSED.search(taken):
        what = text[start + refused.start() : until]
    elif re.search(r"\b(?:not|never|no longer)\b", taken):
        what = text[start:until]
    if stated.is_sure and len(shorter := BRACKETS_AFTER.sub("", what)) >= 6:
        what = shorter
    what = WHEN.sub("", ASIDE.sub("", GERMAN_END.sub("", what).strip(EDGES)))
    what = LEADING.sub("", what, count=1).strip(EDGES).rstrip(" (（")
    if not any(map(str.isalpha, what)):
        return None
    object = what
    is_word = " " not in what and not SPACELESS.search(what)
    if sighting := reading.sightings.get(normalise(what)):  # a compound in a script without spaces tells enough
        is_word = is_word or sighting.marks != {"noun"} or not SPACELESS.search(what)
    if is_word or FOR_OR_AGAINST.fullmatch(what):
        what = text[start:until].strip(EDGES)
    title = first_sentence(what, TITLE_MAX)
    return title[:1].upper() + title[1:], object, reason


def _why(text: str, start: int, language: str) -> re.Match[str] | None:
    """Return the match of the words that begin a reason after this position."""
    if found := WHY.search(text, start):
        return found
    if language == "de":
        return GERMAN_WHY.search(text, start)
    if SPACELESS.search(text):
        return spaceless.WHY.search(text, start) or spaceless.WHY_IN_BRACKETS.search(text, start)
    return AS_IT_IS.search(text, start) if language == "en" else None


def _has_page(reading: Reading, stated: Stated, object: str, why: str) -> bool:
    """Return whether a decision gets a page: it names something or has a reason, or is sure by its label or heading."""
    if stated.is_sure:
        return True
    words, is_named = fold_text(object).split(), _has_name(reading, object)
    if not words or words[-1] in POINTERS or POINTERS.issuperset(word for word in words if word not in VAGUE):
        return False
    is_contrast, is_spaceless = CONTRAST.search(object) is not None, SPACELESS.search(object) is not None
    if stated.is_weak:
        return (is_named or is_contrast) and (bool(why) or (is_named and is_spaceless and is_contrast))
    return is_named or bool(why) or (is_contrast and is_spaceless)


def _has_name(reading: Reading, object: str) -> bool:
    """Return whether the object of a decision contains a name."""
    said = fold_text(object)
    if any(padded(key) in said for key, sighting in reading.sightings.items() if sighting.marks - UNSURE):
        return True
    if reading.language == "de":
        return any(run.is_sure or run.is_bare for run in runs(object, "de"))
    return SPACELESS.search(object) is not None and LATIN.search(object) is not None
