"""Finding names by their capitals, in the scripts that have capitals."""

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from ..texts.language import DATES, EVERYWHERE, stops_of, word_set
from ..texts.text import WORD
from .buttons import is_label
from .german_nouns import KIN, NO_ARTICLE, is_bare, is_particle, is_sure, is_whole

# Words before a person's name, of company, meeting and giving.
WITH = word_set(
    """
    with met told asked called and thanked mit und avec et com con y e hugged invited visited trifft traf für
    bei von para pour chez à ao
    """
)
# Verbs after a name that say what somebody does, mostly people.
TOLD = word_set(
    """
    says said thinks thought told asked asks met sent brought came cried laughed wants wanted works worked
    writes wrote lives lived knows found made cooked sang played baked plays sings helped showed paid remembered
    recommends prefers sagt sagte meint meinte fragt fragte brachte kam will wohnt arbeitet kocht kochte spielt
    lacht lachte erzählt erzählte schreibt schrieb dit disait pense pensait veut travaille habite demande
    demandait raconte raconta chante préfère disse diz acha achou quer trabalha mora perguntou contou trouxe
    veio cozinhou mostrou ligou riu prefere dice dijo piensa quiere trabaja vive preguntó trajo dice cree hat
    ist war a est
    mailed emailed phoned texted visits suggests suggested proposes proposed insists insisted promised promises reminded
    reminds complained complains hopes hoped agrees disagrees noticed wonders worries borrowed lent offered volunteered
    apologised apologized calibrated measured ordered presented repaired cleaned joined
    """
)
# Verbs after a name that say what somebody or something does or is.
BEING = word_set(
    """
    began blew bled bred burst clung crept dealt drew fled fed fought froze gave hung knelt laid leapt learnt
    leant meant quit rang sought shone shrank sang sank slid sped spun spat sprang stole stuck stung stank
    struck swore swept swam swung tore threw trod wept withdrew wove ate drank drove fell felt flew forgot grew
    heard held hid kept led left let lit put ran read rode rose sat saw set shook shut slept sold spoke spent
    stood taught understood woke wore won broke bought built caught chose cut dug wants needs likes thinks loves
    hates sleeps kam ging fand sah rief schlief blieb trug lief trank bekam wurde muss kann soll möchte isst
    liest fährt garde veut peut doit prend vient sait is was has had are were will can does did isn't wasn't
    knew took lost moved serves opened closed hosts runs opens closes stays offers sells é foi tem vai fica
    abriu fechou estava est a était reste ouvre ferme hat war wird ist öffnet schließt liegt bleibt gab es fue
    tiene está è era erano ha hanno
    """
)
COMPANY = frozenset(
    {("and", "I"), ("and", "me"), ("und", "ich"), ("et", "moi"), ("e", "eu"), ("y", "yo"), ("ed", "io"), ("e", "io")}
)
NOT_TELLING = word_set("hat ist war a est came will made found worked works")  # verbs of TOLD that things do as well
# Participles and past tenses before their object: `Called Priya`, `Croisé Madame Perrin`, `Encontrei a Inês`.
DONE = re.compile(r"^(?:\w{4,}ed|\w{5,}[éi]|\w{3,}(?:ei|ámos|emos|imos))$")
# Endings of verbs in the past tense, by language.
ACTED = {
    "en": re.compile("..ed$"),
    "de": re.compile("(?:..te|...[^e]t)$"),
    "fr": re.compile("^(?:[mnlst]['’].|(?:se|me|nous|ne|y)$)|...(?:ait|era|ça)$"),
    "pt": re.compile("..(?:ou|eu|iu|ava)$"),
    "es": re.compile("..(?:ó|aba|ía)$"),
    "it": re.compile("..(?:ò|ava|eva)$"),
}


def is_action(following: str, language: str) -> bool:
    """Return whether this word after a name is a verb that says what somebody or something does or is."""
    if (following, language) == ("a", "en"):
        return False
    return (
        following in TOLD or following in BEING or (language in ACTED and ACTED[language].search(following) is not None)
    )


def is_told(previous: str, following: str) -> bool:
    """Return whether the words around a name show that it is a person's."""
    return (following in TOLD and following not in NOT_TELLING) or previous in WITH or previous in KIN


def is_company(words: Sequence[str], last: int) -> bool:
    """Return whether `and I` follows the name, as in `Theo and I`, which shows that it is a person's."""
    return last + 1 < len(words) and (words[last].lower(), words[last + 1]) in COMPANY


BEFORE_MONTHS = word_set("in on since until till by for last next early late mid this of from im bis seit ab")
GIVEN = word_set("jan jun may april june august mai")  # names of people that are those of months, too
WORDS_MAX = 6
RUNS_MAX = 60  # names of one sentence
ARTICLES = frozenset({"the", "our", "my"})
PARTICLES = word_set("de do da dos das del della di du des van von der den of la le al el tot")
HONORIFICS = word_set(
    """
    dr mr mrs ms st sr sra dra prof mme mlle hr fr frau herr herrn chef dona dom tia tio tante onkel madame
    monsieur docteur doctor professor professeur professora doutor doutora señora señor senhor senhora oncle
    aunt uncle grandma grandpa maître mestre padre sœur schwester bruder doktor coach trainer trainerin captain pastor
    rabbi nurse judge oma opa m don doña tío tía abuela abuelo avó avô vovó vovô maestro maestra signor signora sig zio
    zia nonna nonno mamie papi rektor rektorin direktor direktorin bürgermeister bürgermeisterin pfarrer pfarrerin
    hrn frl pfr srta mgr rev capt sgt dott ing mag mx
    professorin doktorin director directora directeur directrice diretor diretora direttore direttrice profesor
    profesora doctora dottor dottore dottoressa professore professoressa
    """
)
# Words in small letters that begin the name of a street, a square or a school: `rue des Lavandières`.
STREETS = word_set(
    """
    rue place avenue boulevard quai impasse chemin allée square école collège lycée salle
    calle plaza avenida paseo camino callejón escuela colegio instituto
    rua praça largo travessa beco estrada escola colégio
    via piazza viale corso vicolo piazzale scuola liceo
    """
)
OF = word_set("de du des la las los le del do da dos das della delle dello dei degli di")
OF_GAP = re.compile(r"\s+(?:[ld]['’])?")  # before and between the words of such a name
ROMANCE = frozenset({"fr", "es", "pt", "it"})
LED = word_set("La Los Las El Le Les Il Lo")  # articles that belong to a name if they have a capital inside a sentence
# The first word of names of places and churches. `São` is also a verb, and `St` a title.
SAINTLY = word_set("são santo santa san saint sainte sankt sint st")
OPENERS = frozenset('“"«»¿¡([:–—•-*>\ue001/→|„‚')
ELIDED = re.compile(r"(?:[ldjnstmc]|qu)['’](?=\w)", re.IGNORECASE)
CODE = re.compile(r"[a-z]{1,2}[A-Z][A-Za-z]*-?\d+[A-Za-z]?$")  # `pRK-15`; not `pH`, `kWh` and `iPhone`
WORD_OR_GAP = re.compile(f"({WORD.pattern})")


class CapitalRun(NamedTuple):
    """A run of words with capitals that may be a name."""

    name: str
    opens: bool
    """Whether it begins a sentence, where the capital of its first word means nothing."""
    is_person: bool
    is_sure: bool
    """Whether it is surely a name. False for German nouns that may be ordinary words."""
    is_bare: bool
    """Whether it is a single German noun without an article, which may be a name."""
    acts: bool
    """Whether a verb follows that says what somebody or something does or is."""


class Parts(NamedTuple):
    """The words of a sentence, and the text before each word and after the last one."""

    words: list[str]
    gaps: list[str]


def runs(sentence: str, language: str) -> Iterator[CapitalRun]:
    """Yield the names of a sentence in order. `Austin, Texas` is two names."""
    if sentence[1:].islower() and not _may_open(sentence, language):
        return
    parts = _parts(sentence)
    words = parts.words
    if language != "de" and _is_heading(parts):
        return
    index = found = 0
    while index < len(words) and found < RUNS_MAX:
        if not words[index][0].isupper() and not CODE.match(words[index]):
            index += 1
            continue
        end = _end(parts, index, language)
        run = _run(parts, index, end, language)
        if run:
            found += 1
            yield run
        index = end


def _may_open(sentence: str, language: str) -> bool:
    """Return whether the first word may be a name.

    This is a fast check for the many sentences that have no other capital and begin with a stop word.
    """
    first = WORD.match(sentence) if sentence[:1].isupper() else None
    return first is not None and _bare(first[0]) not in stops_of(language)


def _parts(sentence: str) -> Parts:
    """Split a sentence into words. An elided article or preposition is not part of a word: `l'Île` is `Île`."""
    parts = WORD_OR_GAP.split(sentence)
    gaps, words = parts[::2], parts[1::2]
    if "'" in sentence or "’" in sentence:
        for index, word in enumerate(words):
            if len(word) > 2 and (elided := ELIDED.match(word)):
                gaps[index] += elided[0]
                words[index] = word[elided.end() :]
    return Parts(words, gaps)


def _is_heading(parts: Parts) -> bool:
    """Return whether the sentence is in title case, where capitals mean nothing. A list of names is not."""
    long = [word for word in parts.words if len(word) > 3]
    return len(long) >= 5 and all(word[0].isupper() for word in long) and not _is_list(parts)


def _is_list(parts: Parts) -> bool:
    """Return whether commas separate the words into groups of about three: `Present: Ola Berg, Marcus Finch, Mira`."""
    commas = sum(gap.startswith((",", "，", "、")) for gap in parts.gaps)
    return commas > 1 and len(parts.words) <= 3 * (commas + 1) + 1


def _end(parts: Parts, start: int, language: str) -> int:
    """Return the index after the last word of a name: words with capitals, particles between them, a number at the
    end."""
    words = parts.words
    end = start + 1
    while end < len(words) and _length(words[start:end]) < WORDS_MAX and not is_whole(words[end - 1]):
        ahead = end
        while ahead < min(end + 2, len(words)) and words[ahead] in PARTICLES and _joined(parts, ahead):
            ahead += 1
        if words[end] == "of" and words[end - 1].isupper() and len(words[end - 1]) > 1:
            break  # `the README of Linkfold`
        if ahead > end and language == "de" and not is_particle(words[start:end], words[end], words[ahead:]):
            break
        if ahead >= len(words) or not _joined(parts, ahead):
            break
        word = words[ahead]
        if word[0].isupper():
            end = ahead + 1
        elif ahead == end and word.isdigit() and len(word) <= 4 and not _is_counted(parts, ahead):
            return end + 1
        else:
            break
    return end


def _length(words: Sequence[str]) -> int:
    """Return the number of words of a name without its particles."""
    return len(words) - sum(word in PARTICLES for word in words)


def _is_counted(parts: Parts, at: int) -> bool:
    """Return whether a number belongs to what follows: `Otto 4. Mai`, `Otto 9:30`, `Sales 1,148`, `Butte 3,8 ha`."""
    after = parts.gaps[at + 1]
    is_cut = after == "," and parts.words[at + 1][0].isdigit()
    return is_cut or after[:1] == ":" or (after[:1] == "." and at + 1 < len(parts.words))


def _joined(parts: Parts, index: int) -> bool:
    """Return whether only white space is before this word, or a full stop after a title such as `Dr`."""
    gap = parts.gaps[index]
    return gap.isspace() or (gap.strip() == "." and parts.words[index - 1].lower() in HONORIFICS)


def _run(parts: Parts, start: int, end: int, language: str) -> CapitalRun | None:
    """Return the name among these words, without words that do not belong to it, or None if there is none."""
    words, gaps = parts
    before = gaps[start].rstrip()
    opens = before[-1] in OPENERS if before else start == 0
    first, last = start, end
    stops = stops_of(language)
    while first < last and _is_small(words[first], stops) and not _is_kept(words, first, last):
        first, opens = first + 1, False
    if first == last:
        return None
    if last - first > 1 and len(words[first]) == 1 and gaps[first] == "/":  # `R/V Tobis`
        first, opens = first + 1, False
    if last - first > 1:
        first, last, opens = _shortened(words, first, last, opens=opens, language=language)
    if first == last or words[first].isdigit() or is_label(words, first):
        return None
    if language in ROMANCE and (street := _street(parts, first)) is not None:
        first, opens = street, False
    name = _without_possessive(_between(parts, first, last))
    return _told(name, parts, first, last, opens=opens, language=language) if _can_be_name(name) else None


def _street(parts: Parts, first: int) -> int | None:
    """Return the index of the word for a street or school that the name at this index belongs to, or None.

    It is the index of `école` for `école des Tilleuls`, and of `place` for `place d'Armes`.
    """
    words, gaps = parts
    at = first
    while at and words[at - 1] in OF and OF_GAP.fullmatch(gaps[at]):
        at -= 1
    is_of = at < first or gaps[first].strip() in ("d'", "d’")
    return at - 1 if is_of and at and words[at - 1] in STREETS and OF_GAP.fullmatch(gaps[at]) else None


def _is_kept(words: list[str], first: int, last: int) -> bool:
    """Return whether a small word, a day or a month at the beginning belongs to the name."""
    if last - first > 1 and (words[first].lower() in SAINTLY | HONORIFICS or (first and words[first] in LED)):
        return True
    return _is_kept_day(words, first, last) or _is_given(words, first, last)


def _is_kept_day(words: list[str], first: int, last: int) -> bool:
    """Return whether a name begins with this day of the week: `the Tuesday Circle`, but not `on Tuesday Mara`."""
    return first + 1 < last and first > 0 and words[first].lower() in DATES and words[first - 1].lower() in ARTICLES


def _is_given(words: list[str], first: int, last: int) -> bool:
    """Return whether a month is a person's first name: `Jun Takeda`, but not `in May Mara`."""
    if words[first].lower() not in GIVEN or last - first != 2 or _bare(words[first + 1]) in EVERYWHERE:
        return False
    before = words[first - 1].lower() if first else ""
    return before not in BEFORE_MONTHS and (bool(before) or words[first].lower() != "may")


def _is_small(word: str, stops: Set[str]) -> bool:
    """Return whether names do not begin with this word: particles, stop words and numbers."""
    return word.lower() in PARTICLES or _bare(word) in stops or word.isdigit()


def _shortened(words: list[str], first: int, last: int, *, opens: bool, language: str) -> tuple[int, int, bool]:
    """Return (first, last, opens) of a name of several words without words that only stand beside it.

    These are verbs at the beginning of a sentence, dates, stop words, and some German nouns.
    """
    honorific = next((at for at in range(first + 1, last - 1) if words[at].lower() in HONORIFICS), None)
    if opens and (honorific or (language != "de" and DONE.search(words[first]))):
        first, opens = honorific or first + 1, False
        while first < last - 1 and words[first] in PARTICLES:
            first += 1
    stops = stops_of(language)
    if words[last - 2].endswith(("'s", "’s")):  # `The Cartographer's Winter`
        return first, last, opens
    while first < last and _bare(words[last - 1]) in DATES:
        last -= 1
    while first < last and _bare(words[last - 1]) in stops and not words[last - 1].isupper():
        last -= 1
    if language == "de":
        while last - first > 1 and words[last - 1].lower() in NO_ARTICLE:
            last -= 1
        if last - first > 1 and words[first].lower() in KIN:
            first, opens = first + 1, False
    return first, last, opens


def _between(parts: Parts, first: int, last: int) -> str:
    """Return the words from `first` up to, but not including, `last` as they are written."""
    if last - first == 1:
        return parts.words[first]
    rest = (f"{parts.gaps[at]}{parts.words[at]}" for at in range(first + 1, last))
    return parts.words[first] + "".join(rest)


def _can_be_name(name: str) -> bool:
    return len(name) > 2 or (len(name) == 2 and name.isalpha())


def _told(name: str, parts: Parts, first: int, last: int, *, opens: bool, language: str) -> CapitalRun:
    """Return the name with the properties that the words around it show."""
    words = parts.words
    count = name.count(" ") + 1
    if count <= 3 and is_company(words, last):
        return CapitalRun(name, False, True, True, False, True)
    previous = words[first - 1].lower() if first else ""
    following = words[last].lower() if last < len(words) else ""
    is_person = count <= 3 and (is_told(previous, following) or _has_title(name))
    is_german = language == "de"
    return CapitalRun(
        name,
        opens,
        is_person,
        not is_german or is_sure(name, previous, opens=opens),
        is_german and is_bare(name, opens=opens),
        is_action(following, language),
    )


def _has_title(name: str) -> bool:
    """Return whether the name begins with a title: `Dr. Alvarez`."""
    return name.split(None, 1)[0].lower().rstrip(".") in HONORIFICS


def _bare(word: str) -> str:
    """Return the word in small letters, without a contraction: `I'm` → `i`, `Sofia's` → `sofia`."""
    word = word.lower()
    if word.isalpha():
        return word
    word = word.replace("’", "'")
    return (
        word.partition("'")[0] if "'" in word[1:3] or word.endswith(("'s", "'t", "'ll", "'ve", "'re", "'d")) else word
    )


def _without_possessive(name: str) -> str:
    return name[:-2] if name.endswith(("'s", "’s")) else name.rstrip("'’")
