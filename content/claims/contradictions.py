"""Recognise two sentences about one thing that cannot both hold. The rules rather miss a contradiction than invent one.

Two sentences disagree if they are the same except for one value of which a thing has only one (a number, a time, a
place, a name, one of two opposites), or except for a negation. A sentence that says that something changed is not a
contradiction but a correction, which `corrections` recognises.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..text_cache import cache_short
from .correction_forms import ADDING, OPEN, PAST
from .corrections import PRONOUNS, SENTENCE_MAX, SENTENCES_CACHED, STOPPED, TIMES, changes, content, stem, word_set

WORD = re.compile(r"\d[\d.,:/]*\d|\d+|[^\W\d_]+(?:['’-][^\W\d_]+)*|[%€$£¥]")
# Words of reports, guesses and estimates, and of single occasions: a sentence with them does not say how a thing is.
UNSURE = re.compile(
    r"[\"“”«»„]|\b(?:said|says|say|told|tells|claim(?:s|ed)?|reported|reports?(?! to\b)|according|"
    r"believes?|thought|thinks?|guess\w*|"
    r"heard|reckons?|expects?|estimat\w+|about|around|approximately|roughly|almost|nearly|over|under|least|most|up to|"
    r"more than|less than|fewer|between|some|several|many|or|either|sometimes|often|usually|mostly|seldom|rarely|"
    r"normally|always|ever|only|just|yet|still|even|except|unless|when|while|during|before|after|until|since|"
    r"yesterday|today|tonight|tomorrow|currently|now|today's|ago|this|last|next|each time|once|again|"
    r"etwa|ungefähr|rund|circa|mindestens|höchstens|laut|sagt\w*|oder|heute|gestern|morgen|diese\w*|"
    r"letzte\w*|nächste\w*|"
    r"manchmal|noch|nur|wenn|während|environ|presque|moins|selon|dit|ou|aujourd'hui|hier|demain|cette|dernier\w*|"
    r"prochain\w*|parfois|encore|quand|aproximadamente|unos|unas|casi|según|dice|hoy|ayer|mañana|est[ea]|pasad[oa]|"
    r"próxim[oa]|cuando|cerca de|quase|segundo|diz|hoje|ontem|amanhã|quando|oggi|ieri|domani|quest[oa]|scors[oa]|"
    r"ongeveer|volgens|zegt|vandaag|gisteren|morgen|deze|vorige|volgende|soms|wanneer|около|примерно|почти|говорит|"
    r"сегодня|вчера|завтра|иногда|когда|если)\b|大约|大約|左右|今天|昨天|明天|有时|約|今日|昨日|明日|ことがある",
    re.IGNORECASE,
)
PAST_TENSE = re.compile(
    r"\b(?:was(?! (?:born|founded|built|established))|were|had|did|didn't|will|won't|shall|would|been|"
    r"war|waren|hatte\w*|"
    r"wird|werden|était|étaient|avait|sera|era|eran|fue|fueron|será|foi|eram|fu|sarà|stato|waren|zal|"
    r"был\w*|будет|будут)\b",
    re.IGNORECASE,
)
# Things whose value changes from one day to the next.
TRANSIENT = word_set(
    """
    temperature weather humidity wind rain mood balance stock inventory queue backlog score traffic load attendance
    status progress guest guests visitor speaker weight pulse pressure level battery agenda topic lunch dinner menu
    today rate exchange time clock count total turnover revenue order orders shipment delivery run walk
    session visit game match episode issue ticket step round draft temperatur wetter stand température météo
    temperatura tiempo tempo weer температура погода
    """
)
# Verbs before a value of which a thing has only one, by the kind of the value.
VERBS = {
    "number": r"is|are|has|have|costs?|weighs?|measures?|seats?|holds?|contains?|lasts?|takes?|employs?|"
    r"needs?|requires?|"
    r"allows?|serves?|supports?|stores?|keeps?|opens?|closes?|starts?|begins?|ends?|expires?|closes|"
    r"pays?|earns?|charges?|"
    r"is due|was born|was founded|was built|was established|equals?|spans?|covers?|runs?|ist|sind|hat|"
    r"haben|kostet|kosten|"
    r"wiegt|misst|dauert|fasst|öffnet|schließt|beginnt|endet|braucht|verlangt|est|sont|a|ont|coûte|coûtent|pèse|mesure|"
    r"dure|contient|ouvre|ferme|commence|finit|es|son|tiene|tienen|cuesta|cuestan|pesa|mide|dura|abre|cierra|empieza|"
    r"termina|é|são|tem|têm|custa|custam|mede|fecha|começa|è|sono|ha|hanno|costa|costano|misura|apre|chiude|inizia|"
    r"finisce|is|zijn|heeft|hebben|kost|kosten|weegt|meet|duurt|opent|sluit|begint|eindigt|стоит|стоят|весит|длится|"
    r"открывается|закрывается|начинается|заканчивается|имеет|требует",
    "time": r"is|are|is due|takes place|runs?|meets?|starts?|begins?|opens?|closes?|ends?|expires?|"
    r"was born|was founded|"
    r"ist|findet|beginnt|endet|öffnet|schließt|est|commence|ouvre|ferme|finit|es|son|empieza|abre|cierra|é|são|começa|"
    r"fecha|è|sono|inizia|apre|chiude|is|zijn|begint|opent|sluit|начинается|открывается|закрывается",
    "place": r"lives?|resides?|based|located|headquartered|born|founded|stored|kept|hosted|wohnt|lebt|"
    r"sitzt|liegt|habite|"
    r"vit|située?|vive|reside|mora|fica|abita|risiede|woont|ligt|живет|живёт|находится",
    "name": r"works? (?:at|for)|employed (?:at|by)|reports? to|owned by|led by|managed by|run by|headed by|founded by|"
    r"maintained by|handled by|written by|designed by|built by|made by|written in|named|called|married to|runs on|"
    r"hosted (?:at|on|by)|studies at|arbeitet (?:bei|für)|heißt|gehört|verheiratet mit|läuft auf|"
    r"travaille (?:chez|pour)|"
    r"s'appelle|appartient à|marié(?:e)? (?:à|avec)|trabaja (?:en|para)|se llama|casad[oa] (?:con|com)|"
    r"trabalha (?:em|na|"
    r"no|para)|chama-se|lavora (?:per|in|da)|si chiama|sposat[oa] con|werkt (?:bij|voor)|heet|getrouwd met|работает в|"
    r"зовут|называется",
}  # fmt: skip
VERB = {kind: re.compile(rf"(?:^| )(?:{verbs})(?= |$)", re.IGNORECASE) for kind, verbs in VERBS.items()}
# The beginning of a sentence about a thing of which there is only one, such as an office: `The lead of sales is …`
DEFINITE = re.compile(
    r"^(?:the|our|der|die|das|unsere?|le|la|les|l'|notre|el|nuestr[oa]|o|a|os|as|noss[oa]|il|lo|"
    r"nostr[oa]|de|het|ons|onze) "
    r".* ?\b(?:is|ist|est|es|é|è)(?: (?:in|at|on|im|in der|à|en|em|a))?$",
    re.IGNORECASE,
)
OPPOSITES = (
    "enabled disabled", "required optional", "mandatory optional", "allowed forbidden", "allowed prohibited",
    "permitted forbidden", "public private", "supported unsupported", "synchronous asynchronous", "free paid",
    "encrypted unencrypted", "left-handed right-handed", "married single", "married unmarried", "vegetarian carnivore",
    "mutable immutable", "reversible irreversible", "edible poisonous", "erlaubt verboten", "öffentlich privat",
    "obligatoire facultatif", "permitido prohibido", "permitido proibido", "obbligatorio facoltativo",
    "verplicht optioneel",
)  # fmt: skip
COLOURS = word_set(
    """
    black white red green blue yellow orange purple violet pink brown grey gray schwarz weiß rot grün blau gelb braun
    grau noir blanc rouge vert bleu jaune gris negro blanco rojo verde azul amarillo preto branco vermelho nero bianco
    rosso giallo zwart wit rood groen blauw geel черный белый красный зелёный зеленый синий желтый
    """
)
SETS = (*(word_set(pair) for pair in OPPOSITES), COLOURS)
NEGATIONS = word_set(
    """
    not no never cannot nicht kein keine keinen keiner nie ne pas jamais n' non não nunca niet geen nooit не нет
    n't doesn't don't isn't aren't can't
    """
)
DOING = word_set("do does")
# Words after `is` and `is not` for what is lasting.
LASTING = word_set(
    """
    a an the ein eine un une una um uma uno een vegetarian vegan allergic required supported allowed permitted
    mandatory optional public private free married included refundable waterproof vegetarisch vegan allergisch erlaubt
    végétarien végane allergique obligatoire vegetariano vegetariana alérgico alérgica obligatorio obrigatório
    """
)
BEING = word_set("is are ist sind est sont es son é são è sono zijn")
OURS = word_set("we our wir unser unsere nous notre nosotros nuestro nós nosso noi nostro wij ons мы наш")
ANYBODY = word_set(
    """
    his her their your its you there this that these those here somebody someone es dort sein seine ihr ihre dies diese
    son sa ses leur ce cette su sus seu sua suo zijn haar его ее её их это
    """
)
FREQUENT = re.compile(
    r"\b(?:every|on|am|jeden|le|los|as|op) (?:\w+days|\w+tags|\w+dags)\b|\bevery \w+day\b", re.IGNORECASE
)


class Pair(NamedTuple):
    """The words of two sentences: their common start and end, and the words between in which they differ (`one`,
    `other`)."""

    start: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]
    end: tuple[str, ...]


def disagree(one: str, other: str, subject: Collection[str] = ()) -> bool:
    """Return whether two sentences speak of one thing and cannot both hold.

    `subject` are the names of the thing that both speak of: either sentence may begin with any of them.
    """
    if not (is_plain(one) and is_plain(other)) or ADDING.search(other):
        return False
    first, second = (without_subject(compared_words(text), subject) for text in (one, other))
    if first == second or not opening(first) or opening(first) != opening(second):
        return False
    return is_negated(first, second) or has_other_value(differing_words(first, second))


@cache_short(SENTENCES_CACHED, SENTENCE_MAX)
def is_plain(text: str) -> bool:
    """Return whether a sentence says how something is, without a doubt, a time of its own, or a change."""
    if (
        not text.strip()
        or len(text) > SENTENCE_MAX
        or OPEN.search(text)
        or PAST.search(text)
        or PAST_TENSE.search(text)
    ):
        return False
    return not UNSURE.search(text) and not changes(text)


@cache_short(SENTENCES_CACHED, SENTENCE_MAX)
def compared_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence for a comparison. A contraction such as `doesn't` gives two words."""
    folded = text.replace("’", "'")
    folded = re.sub(r"\b(can|is|are|do|does)n?'t\b", r"\1 not", folded)
    folded = re.sub(r"\bcannot\b", "can not", folded)
    folded = re.sub(r"\bn'(?=\w)", "ne ", folded)
    return tuple(WORD.findall(folded))


def without_subject(words: tuple[str, ...], subject: Collection[str]) -> tuple[str, ...]:
    """Return the words with `§` in the place of the name of the subject that they begin with, if any."""
    folded = tuple(word.casefold() for word in words)
    for name in sorted({compared_words(name) for name in subject}, key=len, reverse=True):
        size = len(name)
        if size and folded[:size] == tuple(word.casefold() for word in name):
            return ("§", *words[size:])
    return words


def opening(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first word, as the subject of a sentence; () for a negation, or a pronoun that may mean anybody."""
    if not words:
        return ()
    first = words[0].casefold()
    anybody = (first in PRONOUNS and first not in OURS) or first in ANYBODY
    return () if anybody or first in NEGATIONS else (first,)


def differing_words(one: Sequence[str], other: Sequence[str]) -> Pair:
    """Split the words of two sentences into the common start and end, and the differing words between."""
    first, second = ([word.casefold() for word in words] for words in (one, other))
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end] == second[-1 - end]:
        end += 1
    ends = len(first) - end, len(second) - end
    return Pair(tuple(one[:start]), tuple(one[start : ends[0]]), tuple(other[start : ends[1]]), tuple(one[ends[0] :]))


def has_other_value(pair: Pair) -> bool:
    """Return whether the differing words are two values of one kind, after a verb whose subject has only one."""
    if not pair.one or not pair.other or len(pair.start) < 2 or is_of_an_occasion(pair):
        return False
    before, kinds = " ".join(pair.start), [kind_of(value) for value in (pair.one, pair.other)]
    if kinds[0] != kinds[1] or kinds[0] is None:
        return False
    if kinds[0] == "set":
        both = {pair.one[0].casefold(), pair.other[0].casefold()}
        return any(both <= known for known in SETS) and pair.start[-1].casefold() in BEING and not pair.end
    if kinds[0] == "name":
        return allows_one_name(before) and ends_soon(pair.end)
    after = VERB[kinds[0]].search(before)
    return after is not None and len(content(before[after.end() :])) <= (3 if kinds[0] == "number" else 1)


def allows_one_name(before: str) -> bool:
    """Return whether only one name can follow these words, such as the residence of somebody or the holder of an
    office."""
    tail = re.sub(r" (?:in|at|on|near|im|bei|à|en|em|a|ad|te|в|на)$", "", before, flags=re.IGNORECASE)
    if DEFINITE.search(before):
        return True
    return any(
        (found := list(VERB[kind].finditer(text))) and found[-1].end() == len(text)
        for kind, text in (("place", tail), ("name", before))
    )


def ends_soon(end: Sequence[str]) -> bool:
    """Return whether only a few words without a conjunction follow a name, which do not make it a part of a list."""
    return len(end) <= 4 and not any(word.casefold() in ("and", "und", "et", "y", "e", "en", "и") for word in end)


def is_of_an_occasion(pair: Pair) -> bool:
    """Return whether the common words name a time, or a thing whose value changes from one day to the next."""
    rest = [word.casefold() for word in (*pair.start, *pair.end)]
    if FREQUENT.search(" ".join(rest)):
        rest = [word for word in rest if not word.endswith(("days", "day", "tags", "dags"))]
    return any(word in TIMES or stem(word) in TIMES or word in TRANSIENT or is_year(word) for word in rest)


def is_year(word: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", word))


def kind_of(value: Sequence[str]) -> str | None:
    """Return the kind of a value: `number`, `time`, `name`, or `set` for a word of SETS; None for anything else."""
    folded = [word.casefold() for word in value]
    if len(folded) <= 2 and all(word[0].isdigit() or word in "%€$£¥" or word in ("am", "pm") for word in folded):
        return "number" if any(word[0].isdigit() for word in folded) else None
    if len(folded) <= 3 and all(word in TIMES or stem(word) in TIMES or word[0].isdigit() for word in folded):
        return "time"
    if len(folded) == 1 and any(folded[0] in known for known in SETS):
        return "set"
    if len(value) <= 3 and all(word[0].isupper() and word.casefold() not in STOPPED for word in value):
        return "name"
    return None


def is_negated(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether one sentence is the negation of the other."""
    (mine, no), (theirs, not_) = without_negations(one), without_negations(other)
    if mine != theirs or no == not_ or len(mine) < 3 or is_of_an_occasion(Pair(tuple(one), (), (), ())):
        return False
    plain = [word.casefold() for word in (other if no else one)]
    being = [place for place, word in enumerate(plain) if word in BEING]
    return not being or (being[0] + 1 < len(plain) and plain[being[0] + 1] in LASTING)


def without_negations(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the stems of the words without negations, and whether there was exactly one negation."""
    folded = [word.casefold() for word in words]
    said = [stem(word) for word in folded if word not in NEGATIONS and word not in DOING]
    negations = [word for word in folded if word in NEGATIONS and word != "ne"]
    return tuple(said), len(negations) == 1
