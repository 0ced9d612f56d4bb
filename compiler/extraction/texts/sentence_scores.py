"""Scores of sentences: how well a sentence defines a thing, how much it says, and whether it describes a state."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from content.normalization import fold
from content.search.words import SPACELESS
from content.text_cache import cache_short

from ..names.attendees import ATTENDING
from .language import stops_of
from .text import OWN_WORDS, Sentence, normalised, padded

QUOTE_GOOD = (40, 220)  # characters
TELLING_MAX = 8  # content words, beyond which more do not raise the score
SHORT = 25  # characters of an exclamation
DEFINITION = 3.0  # the score from which on a sentence defines something
UNDEFINED = DEFINITION - 0.25  # the maximum score of a sentence that defines nothing
SCORES_MAX, SENTENCE_LONGEST = 8_192, 1_000  # sentences whose scores are cached, and characters of each
NAME_FIRST = 6  # characters that may precede a name at the beginning of a sentence
BESIDE_MAX = 80  # characters before a name in which an apposition is looked for
LISTED_MIN = 3  # names and commas, from which on a sentence is a list of names
NO_SENTENCE = 6.0  # subtracted from the score of captions and lists of attendees
CAPTION = re.compile(
    r"\W{0,3}\[[^\[\]]*\]?\W{0,3}$|\[(?:photo|image|picture|video|gif|sticker|foto|bild|图片|照片|写真)\b",
    re.IGNORECASE,
)
ONLY_TAGS = re.compile(r"(?:#\S+\s*)+")

COPULA = re.compile(
    r"^(?: \w+){0,3}? (?:is|are|was|e|sao|era|es|son|est|sont|ist|sind|war|sono|is een) (?:an?|the|one|um|"
    r"uma|o|a|une?|la|le|les|las|el|los|eine?n?|"
    r"der|die|das|il|my|our|his|her|their|mein|meine|unser|unsere|mon|ma|notre|nos|meu|minha|nosso|nossa|"
    r"mi|nuestro|nuestra|where|when)\b"
)
# What a thing is, beside its name: `my lead is Oskar`, `her cat, Bishop.`, `a shop called Lantern`.
OWNER = (
    r"(?:my|our|his|her|their|the|an?|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}|d(?:er|ie|as|en|em)|ein\w{0,2}"
    r"|mon|ma|notre|son|sa|le|la|une?|meu|minha|nosso|nossa|seu|sua|um|uma|mi|su|el|il|lo)"
)
SAID_BEFORE = re.compile(
    rf"\b{OWNER} (?:[\w-]+ ){{0,2}}[\w-]+(?P<set_off>,)? (?(set_off)|(?:is|was|called|named|ist|war|heisst|namens|est"
    r"|s'appelle|e|se chama|es|se llama) )$"
)
SAID_AFTER = re.compile(
    rf"^, (?:who|which|where|{OWNER} (?!(?:same|next|first|last|other) )[\w-]+(?: [\w-]+){{0,5}}[.,;)]|(?:der|die|das) "
    r"\w+[^.]{0,80}(?:t|en)[.,])"
)
# Brackets after a name at the beginning of a sentence: `Shanice Obi (electrician) came`. Inside a sentence brackets may
# hold anything, so there they must begin like `Ledgerly (our new bookkeeping tool)`.
ROLE_AFTER = re.compile(r"^ \((?=[^()]{0,40}[^\W\d_]{2})[^()\d!?]{2,40}\)")
OWN_ROLE_AFTER = re.compile(
    r"^ \((?:my|our|his|her|their|an?|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}|eine?|mon|ma|notre|son|sa|une?"
    r"|meu|minha|nosso|nossa|seu|sua|um|uma|mi|su) [^()\d!?]{2,40}\)"
)
# A role at the beginning of a sentence, with the name in brackets after it: `Neighbour at no 16 (Mrs Oduya)`.
ROLE_BEFORE = re.compile(r"^[^\W\d_][\w'’-]*(?<!ed)(?<!ing)(?<!\w\w\ws)(?: [\w'’-]+){0,4} \($")
RELATED_BEFORE = re.compile(r"\b(?:my|our|his|her|their|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}) [\w-]{3,} $")
SET_OFF = re.compile(r"^[.,;:)–—]|^ [–—-] |^$")
COPULA_SPACELESS = re.compile(
    "^ ?(?:就?是(?!不|否|很|因|在|我们去)|为一|とは|は[^。]{2,60}(?:です|である|だ)|เป็น|คือ|은 |는 )"
)
# In scripts without spaces: `新来的实习生叫丁一诺`, `丁一诺（产品经理）`, `丸山という後輩`.
CALLED_SPACELESS = re.compile("[\u3040-\u9fff]{2}(?:名?叫做?|名字[叫是]|名前は) ?$")
ROLE_AFTER_SPACELESS = re.compile(
    "^ ?(?:[（(][^（）()\\d？?！!]{2,20}[）)]|(?:という|っていう|と呼ばれる)[\u3040-\u9fffー]{2})"
)
SPECIFIC = re.compile(
    r"\d|\b(?:best|worst|favou?rite|first|only|never|always|meilleur|beste|melhor|mejor)\b|最|一番|初めて|第一次",
    re.IGNORECASE,
)
# Statements of speakers about themselves in a conversation, after the name of the speaker.
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
# The beginning of such a sentence in the first person.
OF_THE_SPEAKER = re.compile(
    r"^(?: \w+){1,4}? (?:i|i'm|i've|i'd|i'll|im|we|we're|we've|ich|wir|je|j'|nous|eu|yo|io"
    r"|my \w+ (?:is|are|was|were|has|have)|mein\w* \w+ (?:ist|war|hat)) |^ ?\S{1,12}[我私僕俺]"
)
# Statements that hold until a newer one.
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


def definition(sentence: Sentence, names: Iterable[str]) -> float:
    """Return how well a sentence defines the thing with these names: `X is a …` scores DEFINITION or more."""
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
        is_beside = _is_called if spaceless else _is_set_beside
        if not is_question and is_beside(sentence.text, name):
            return DEFINITION + (at < NAME_FIRST) + good
        if at == 0 and sentence.speaker and normalised(sentence.speaker) == name:
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
    folded = fold(text)
    at = folded.find(name)
    if at < 0:
        return False
    after = folded[at + len(name) :]
    before = folded[max(0, at - BESIDE_MAX) : at]
    said_before = SAID_BEFORE.search(before)
    if RELATED_BEFORE.search(before) and SET_OFF.match(after):
        return True
    if _has_role(text, folded[:at], after):
        return True
    return SAID_AFTER.match(after) is not None or (
        said_before is not None and (said_before["set_off"] is None or SET_OFF.match(after) is not None)
    )


def _is_called(text: str, name: str) -> bool:
    """Return whether a sentence in a script without spaces says beside the name what it is."""
    before, found, after = fold(text).partition(name)
    return bool(found) and bool(
        CALLED_SPACELESS.search(before[-BESIDE_MAX:])
        or (len(before) < NAME_FIRST and ROLE_AFTER_SPACELESS.match(after))
    )


def _has_role(text: str, before: str, after: str) -> bool:
    """Return whether brackets beside the name say what it is.

    A list of attendees does not count, because its brackets also say who came late.
    """
    if ATTENDING.match(text):
        return False
    return (
        (len(before) < NAME_FIRST and ROLE_AFTER.match(after) is not None)
        or OWN_ROLE_AFTER.match(after) is not None
        or (after.startswith(")") and ROLE_BEFORE.search(before) is not None)
    )


def telling(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Return how well a sentence begins a page: DEFINITION or more if it defines the thing, or else less."""
    return _telling(sentence, names, "" if form_of(sentence.text).is_spaceless else language)


@lru_cache(maxsize=SCORES_MAX)
def _telling(sentence: Sentence, names: frozenset[str], language: str) -> float:
    defining, content = definition(sentence, names), score_sentence(sentence, names, language)
    if form_of(sentence.text).greets:
        return min(content, 0.0)
    if defining >= DEFINITION:
        return defining
    return min((defining + content) / 2, UNDEFINED) if content >= 0 else content


def score_sentence(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Return how much a sentence says about the page with these names.

    Greetings, questions, exclamations, captions and lists of attendees have low scores, mostly below zero.
    """
    return _score(sentence, names, "" if form_of(sentence.text).is_spaceless else language)


@lru_cache(maxsize=SCORES_MAX)
def _score(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Return the score of a sentence for one page. It is cached, because several sections of the page need it.

    The language, which is "" for texts without spaces, selects the stop words.
    """
    text, words = sentence.text, sentence.words
    form = form_of(text)
    if form.is_spaceless:
        telling = len(text) // 3
    else:
        stops = stops_of(language).union(*(name.split() for name in names))
        telling = sum(word not in stops for word in set(words.split()))
        others = [word for word in text.split()[1:] if word[0].isupper()] if language != "de" else []
        telling -= len(others) // 2
    speaker = normalised(sentence.speaker) if sentence.speaker else ""
    if speaker in names:
        is_comment = words.startswith(padded(speaker)) and not OWN_WORDS.search(words)  # `Raised the limit.`
        position = 1.0 if OF_THE_SPEAKER.search(words) else 0.5 if is_comment else -1.0
    else:
        position = 0.5 * any(0 <= words.find(padded(name)) < NAME_FIRST for name in names)
    says_little = form.is_question or (telling < TELLING_MAX and form.greets)
    return min(telling, TELLING_MAX) / 4 + position + form.score - 2 * says_little


class Form(NamedTuple):
    """The properties of a sentence that do not depend on the page."""

    score: float
    """The part of its score that does not depend on the page."""
    is_spaceless: bool
    is_question: bool
    greets: bool
    """Whether it begins as greetings, thanks and short answers do."""


@cache_short(SCORES_MAX, SENTENCE_LONGEST)
def form_of(text: str) -> Form:
    """Return the form of a sentence. It is cached, because a sentence is scored for every page that it names."""
    named = sum(word[0].isupper() for word in text.split()[1:])
    score = (
        0.5 * (QUOTE_GOOD[0] <= len(text) <= QUOTE_GOOD[1])
        + 0.25 * min(named, 2)
        + 0.5 * bool(SPECIFIC.search(text))
        - (text.endswith(("!", "！")) and len(text) < SHORT)
        - (named >= LISTED_MIN <= text.count(", "))
        - NO_SENTENCE * (any(form(text) for form in (ATTENDING.match, CAPTION.match, ONLY_TAGS.fullmatch)))
    )
    is_spaceless, greets = SPACELESS.search(text) is not None, GREETING.match(text) is not None
    return Form(score, is_spaceless, text.endswith(("?", "？")), greets)


def is_state(sentence: Sentence, names: Iterable[str]) -> bool:
    """Return whether the sentence describes a state of the thing with these names, rather than an event."""
    if form_of(sentence.text).greets:
        return False
    for name in names:
        wanted = padded(name)
        at = sentence.words.find(wanted)
        rest = sentence.words[at + len(wanted) - wanted.endswith(" ") :]
        is_own = at == 0 and bool(sentence.speaker) and normalised(sentence.speaker) == name
        if 0 <= at < NAME_FIRST and (STATE_OF_ONESELF.match(rest) if is_own else STATE.search(rest)):
            return True
    return False
