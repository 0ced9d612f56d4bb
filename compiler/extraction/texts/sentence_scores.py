"""Scores of sentences: how well one says what a thing is, how much it says, and whether it says how something is."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from content.normalization import fold
from content.search.words import SPACELESS
from content.text_cache import cache_short

from ..readings import ATTENDING
from .language import stops_of
from .text import OWN_WORDS, Sentence, normalised, padded

QUOTE_GOOD = (40, 220)  # characters
TELLING_MAX = 8  # words that say something: more make a sentence no better
SHORT = 25  # characters of an exclamation
DEFINITION = 3.0  # the score from which on a sentence says what something is
UNDEFINED = DEFINITION - 0.25  # at most, of one that does not
SCORES_MAX, SENTENCE_LONGEST = 8_192, 1_000  # sentences whose scores are kept, and characters of one
NAME_FIRST = 6  # characters before a name with which a sentence begins
BESIDE_MAX = 80  # characters before a name that may say what it is
LISTED_MIN = 3  # names and commas of a sentence that only lists them
NO_SENTENCE = 6.0  # less is said by a list of those who were there, or by a caption, than by anything else
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
# What a sentence that begins with a name says in brackets behind it: `Shanice Obi (electrician) came`. Inside of a
# sentence that may be anything, unless it begins so: `Ledgerly (our new bookkeeping tool)`.
ROLE_BEHIND = re.compile(r"^ \((?=[^()]{0,40}[^\W\d_]{2})[^()\d!?]{2,40}\)")
OWN_ROLE_BEHIND = re.compile(
    r"^ \((?:my|our|his|her|their|an?|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}|eine?|mon|ma|notre|son|sa|une?"
    r"|meu|minha|nosso|nossa|seu|sua|um|uma|mi|su) [^()\d!?]{2,40}\)"
)
# A sentence that begins with the role of whoever stands in brackets behind it: `Neighbour at no 16 (Mrs Oduya)`.
ROLE_BEFORE = re.compile(r"^[^\W\d_][\w'’-]*(?<!ed)(?<!ing)(?<!\w\w\ws)(?: [\w'’-]+){0,4} \($")
RELATED_BEFORE = re.compile(r"\b(?:my|our|his|her|their|mein\w{0,2}|unser\w{0,3}|sein\w{0,2}|ihr\w{0,2}) [\w-]{3,} $")
SET_OFF = re.compile(r"^[.,;:)–—]|^ [–—-] |^$")
COPULA_SPACELESS = re.compile(
    "^ ?(?:就?是(?!不|否|很|因|在|我们去)|为一|とは|は[^。]{2,60}(?:です|である|だ)|เป็น|คือ|은 |는 )"
)
# In scripts without spaces: `新来的实习生叫丁一诺`, `丁一诺（产品经理）`, `丸山という後輩`.
CALLED_SPACELESS = re.compile("[\u3040-\u9fff]{2}(?:名?叫做?|名字[叫是]|名前は) ?$")
ROLE_BEHIND_SPACELESS = re.compile(
    "^ ?(?:[（(][^（）()\\d？?！!]{2,20}[）)]|(?:という|っていう|と呼ばれる)[\u3040-\u9fffー]{2})"
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
    told = fold(text)
    at = told.find(name)
    if at < 0:
        return False
    behind = told[at + len(name) :]
    said = told[max(0, at - BESIDE_MAX) : at]
    before = SAID_BEFORE.search(said)
    if RELATED_BEFORE.search(said) and SET_OFF.match(behind):
        return True
    if _has_role(text, told[:at], behind):
        return True
    return SAID_BEHIND.match(behind) is not None or (
        before is not None and (before["set_off"] is None or SET_OFF.match(behind) is not None)
    )


def _is_called(text: str, name: str) -> bool:
    """Return whether a sentence in a script without spaces says beside the name what it is."""
    told = fold(text)
    before, found, behind = told.partition(name)
    return bool(found) and bool(
        CALLED_SPACELESS.search(before[-BESIDE_MAX:])
        or (len(before) < NAME_FIRST and ROLE_BEHIND_SPACELESS.match(behind))
    )


def _has_role(text: str, before: str, behind: str) -> bool:
    """Return whether brackets beside the name say what it is. Among those present they say who came late, too."""
    if ATTENDING.match(text):
        return False
    return (
        (len(before) < NAME_FIRST and ROLE_BEHIND.match(behind) is not None)
        or OWN_ROLE_BEHIND.match(behind) is not None
        or (behind.startswith(")") and ROLE_BEFORE.search(before) is not None)
    )


def telling(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Score how well a sentence leads a page: DEFINITION or more where it says what the thing is, else less."""
    return _telling(sentence, names, "" if form_of(sentence.text).is_spaceless else language)


@lru_cache(maxsize=SCORES_MAX)
def _telling(sentence: Sentence, names: frozenset[str], language: str) -> float:
    defines, tells = definition(sentence, names), score_sentence(sentence, names, language)
    if form_of(sentence.text).greets:
        return min(tells, 0.0)
    if defines >= DEFINITION:
        return defines
    return min((defines + tells) / 2, UNDEFINED) if tells >= 0 else tells


def score_sentence(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Score how much a sentence says: greetings, questions, cries and lists of those present are below zero."""
    return _score(sentence, names, "" if form_of(sentence.text).is_spaceless else language)


@lru_cache(maxsize=SCORES_MAX)
def _score(sentence: Sentence, names: frozenset[str], language: str) -> float:
    """Score a sentence for one page, whose sections ask for it one after the other; the language says its stop words,
    which texts without spaces have none of.
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
        placed = 1.0 if OF_THE_SPEAKER.search(words) else 0.5 if is_comment else -1.0
    else:
        placed = 0.5 * any(0 <= words.find(padded(name)) < NAME_FIRST for name in names)
    says_little = form.is_question or (telling < TELLING_MAX and form.greets)
    return min(telling, TELLING_MAX) / 4 + placed + form.score - 2 * says_little


class Form(NamedTuple):
    """The form of a sentence, whatever it is about: a share of its score, and what kind of text it is."""

    score: float
    is_spaceless: bool
    is_question: bool
    greets: bool


@cache_short(SCORES_MAX, SENTENCE_LONGEST)
def form_of(text: str) -> Form:
    """Return the form of a sentence, which is scored for every page that it names."""
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
    """Return whether the sentence says how something is, rather than what happened."""
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
