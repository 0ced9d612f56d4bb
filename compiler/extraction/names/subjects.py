"""The subjects of one source: nouns that it repeats, above all if its title, a heading or a link contains them.

Subjects need no capitals. A word counts only where nouns stand, and nouns that are in every text are left out. A short
note repeats little: there, a noun with which a sentence begins is a subject, and other nouns are weak evidence.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from content.notes.fields import KNOWN
from content.search.words import SPACELESS

from ..texts.language import DATES, stops_of, word_set
from ..texts.text import WORD, Sentence, TextLine, clean, fold_text, normalised
from .capitals import is_action
from .chinese import nouns
from .common_nouns import GENERIC
from .german_nouns import ABSTRACT, DETERMINERS, KINDS_OF_PLACE, NO_ARTICLE
from .sightings import LINK

SUBJECTS_MAX, CHINESE_MAX = 12, 20  # of one source
SENTENCES_MAX = 400  # sentences of one source that are searched
SHORT_MAX = 15  # sentences of a short note
DOES = re.compile("(?:ed|ing)$")  # the end of a verb with which notes begin a sentence: `Ordered primers for it`
NOUN_END = re.compile("(?:tion|sion|ment|ness|ity|ism|ance|ence|ship|sis|graphy|logy)$")
THIRD = re.compile("[a-z]{3}s$|ed$")  # the end of a verb after its subject: `Reference electrode drifts`
TITLED_MAX = 3  # words of a subject in a title
TITLE_WORD = re.compile(r"([^\w'’-]*)([\w'’-]+)")
LETTERS_MIN, HAN_MIN = 5, 3  # letters of a subject, and characters of a Chinese one
ANYWHERE_MIN = 3  # sentences with a word that stands as a noun in one of them
SENTENCES_MIN, CHINESE_MIN = 2, 3  # sentences with a subject, and occurrences of a Chinese one that no heading has
KANJI = re.compile("[\u3400-\u9fff々]{3,8}")
COMPOUND = re.compile("(?<![\u3400-\u9fff々])[\u3400-\u9fff]{4,8}(?![\u3400-\u9fff々])")  # a Japanese noun of two words
ITEM_LABEL = re.compile(r"([A-ZÀ-Þ][a-zß-ÿ]{4,30}(?: (?:(?:de|à|par|en|a|di|da) )?[a-zß-ÿ]{4,20})?) ?: ")
STATED_MIN = 5  # words of an item with its label; with fewer it is a field and its value
# Labels before a colon that are fields of forms and templates.
FIELDS = KNOWN | word_set(
    """
    mood weather location where subject deadline source topic topics goal
    gratitude highlight highlights lowlight today tomorrow yesterday morning evening lunch dinner breakfast sleep energy
    présents absents excusés objet lieu présences remarque remarques rappel suite divers lugar asistentes ausentes
    presentes orden acuerdo acuerdos notas tema temas local pauta presenças assunto resumo resumen résumé almoço jantar
    almuerzo cena pranzo
    present attendees attendance participants apologies absent agenda action actions decision decisions open pending
    question questions remark remarks important warning reminder update background context conclusion cause effect
    solution symptoms diagnosis treatment ingredients directions method servings rating verdict pros contra
    wetter stimmung kategorie quelle thema themen ziel ziele dankbar anwesend abwesend
    teilnehmer entschuldigt offen offene frage fragen wichtig hinweis achtung hintergrund ursache lösung zutaten
    betreff anlage anlagen absender empfänger objet oggetto allegato allegati adjunto anexo
    zubereitung bewertung fazit beschluss beschlüsse entscheidung aufgaben protokoll gäste
    """
)
CAPITALS = re.compile(r"\b[A-Z][\w-]* [A-Z][\w-]*")
CLAUSE = re.compile(r"[,;:.!?()–—“”„\"]+(?=\s|$)")
BEFORE = word_set(
    "the a an my your his her our their some any no of for in on at with from about into by and or another each every"
    " this that these those as"
)
ARTICLES = {
    "fr": word_set("le la les l un une des du au aux mon ma mes notre nos votre leur leurs ce cet cette ces"),
    "es": word_set("el la los las un una unos unas del al mi mis nuestro nuestra su sus este esta ese esa"),
    "pt": word_set("o a os as um uma do da dos das no na nos nas ao à aos às pelo pela num numa meu minha nosso nossa"),
    "it": word_set("il lo la i gli le l un uno una del della dei degli al allo alla nel nella dal dalla sul sulla"),
}
OF = word_set("de à par en di da")
ELIDED_ARTICLE = re.compile(r"\b([Ll]|[Dd]ell|[Aa]ll|[Nn]ell)['’](?=\w)")
ELIDED_OF = re.compile(r"d['’][a-zà-ÿ]{3,}")  # `table d'hôtes`
ADVERB = ("mente", "ment")
# Adjectives and adverbs with which notes begin.
MOODS = word_set(
    """
    cold hot warm nice quick slow rainy sunny quiet busy early late lovely lazy wet windy tired happy sad strange weird
    funny easy hard heavy light empty full fresh dark bright calm loud poor dear rough sweet wonderful terrible awful
    bad another many few both half double free open last first next back home still
    """
)
# Verbs before an activity: `started pottery`, `went camping`.
PURSUING = word_set(
    "do does did doing love loves loved enjoy enjoys enjoyed try tried trying start starts started learn learning"
    " practise practice teach teaches study studies studied go goes going went"
)


class Subject(NamedTuple):
    """A subject of a source, or a noun of a short note."""

    name: str
    said: str
    """A sentence with it."""
    is_about: bool = True
    """Whether the source is about it. If not, it is only a noun of a short note."""
    is_item: bool = False
    """Whether it is the label of an item, before a colon, as in minutes."""


def subjects(lines: Sequence[TextLine], titles: Iterable[str], language: str) -> Iterator[Subject]:
    """Yield the subjects of a source, the most frequent first, and then the other nouns of a short note."""
    sentences = [sentence for line in lines for sentence in line.sentences][:SENTENCES_MAX]
    heads = [
        *titles,
        *dict.fromkeys(line.heading for line in lines),
    ]
    heads += [shown for line in lines for shown in _link_texts(line.raw)]
    find = {"zh": _chinese, "ja": _japanese, "de": _german}.get(language, _spaced)
    counts = find(sentences, [fold_text(clean(head)) for head in heads if head], language)
    found = {name: True for name, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))}
    items: set[str] = set()
    if language == "ja":
        compounds = (noun for sentence in sentences for noun in COMPOUND.findall(sentence.words))
        found |= {noun: False for noun in compounds if noun not in found}
    if len(sentences) <= SHORT_MAX:
        items = set(_labels(sentences, language))
        said = dict([*_said_once(sentences, language), *((name, True) for name in items)])
        found |= dict.fromkeys((name for name, is_theme in said.items() if is_theme), True)
        found |= {name: False for name in said if name not in found}
    for name in list(found)[: CHINESE_MAX if language == "zh" else SUBJECTS_MAX]:
        wanted = name if SPACELESS.search(name) else fold_text(name)
        if text := next((sentence.text for sentence in sentences if wanted in sentence.words), None):
            is_written = language != "de" and text.isascii()
            yield Subject(name if is_written else _written(name, text), text, found[name], name in items)


def title_subjects(title: str, language: str) -> Iterator[str]:
    """Yield the subjects of a title, between stop words: `Single sign-on` of `Single sign-on for two domains`.

    A single word counts only at the beginning. A title with a number or a date names a kind of note in a series, so it
    has no subjects.
    """
    words = [(word, bool(gap.strip())) for gap, word in TITLE_WORD.findall(title)]
    if SPACELESS.search(title) or any(word.isdigit() or word.lower() in DATES for word, _ in words):
        return
    small = stops_of(language) | GENERIC.get(language, frozenset())
    run: list[str] = []
    for at, (word, is_parted) in enumerate([*words, ("", True)]):
        is_small = not word or word.lower() in small or word.lower() in MOODS or normalised(word) in small
        if (is_parted or is_small) and run:
            is_first = len(run) == at and len(run[0]) >= LETTERS_MIN
            if len(run) <= TITLED_MAX and (len(run) > 1 or is_first) and not _is_done(run):
                yield " ".join(run)
            run = []
        if not is_small:
            run.append(word)


def _is_done(words: Sequence[str]) -> bool:
    """Return whether words say what was done or how, rather than name a thing."""
    return DOES.search(words[0]) is not None or words[-1].endswith("ly") or not all(map(_is_word, words))


def _is_word(word: str) -> bool:
    return word.replace("-", "").isalpha()


def _written(name: str, text: str) -> str:
    """Return a folded name as the text writes it: `warmepumpe` as `Wärmepumpe`. If it is not found, return the name."""
    count = len(name.split())
    words = WORD.findall(text)
    forms = (" ".join(words[at : at + count]) for at in range(len(words) - count + 1))
    return next((form for form in forms if normalised(form) == name), name)


def _said_once(sentences: Sequence[Sentence], language: str) -> list[tuple[str, bool]]:
    """Return (noun, whether a sentence begins with it) for the nouns of a short note, first those that begin none."""
    if language not in GENERIC:
        return []
    find = {"de": _german_nouns, "en": _english}.get(language)
    small = stops_of(language) | GENERIC[language]
    if language == "zh":
        counts = Counter(noun for sentence in sentences for noun in nouns(sentence.text, small))
        said = {noun.text: count for noun, count in counts.items()}
        apart = [noun for noun in counts if not _is_only_inside(noun.text, said)]
        return [(noun.text, False) for noun in sorted(apart, key=lambda noun: (noun.uses, noun))]
    clauses = (clause for sentence in sentences for clause in CLAUSE.split(sentence.text) if clause.strip())
    found = [
        noun for clause in clauses for noun in (find(clause, small) if find else _romance(clause, small, language))
    ]
    return sorted(found, key=lambda noun: noun[1])


def _is_only_inside(name: str, said: Mapping[str, int]) -> bool:
    """Return whether a phrase of several words is said no more often than a longer one with it."""
    return len(name) >= HAN_MIN and any(name in other != name and count >= said[name] for other, count in said.items())


def _labels(sentences: Sequence[Sentence], language: str) -> Iterator[str]:
    """Yield the labels of items, as minutes have them: `Payments: we compared three banks`."""
    small = stops_of(language) | GENERIC.get(language, frozenset())
    for sentence in sentences if language in GENERIC else ():
        found = None if sentence.speaker else ITEM_LABEL.match(sentence.text)
        name = found[1].lower() if found else ""
        words = name.split()
        is_field = not words or name in FIELDS or words[-1] in FIELDS or not small.isdisjoint((words[0], words[-1]))
        if not is_field and len(sentence.words.split()) >= STATED_MIN:
            yield normalised(name)


def _english(clause: str, small: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield pairs of words, and single words before a verb: `The lipase is dead`, `Respiration is high`.

    Words with capitals are left out, because they may be names, except for those at the beginning that end as nouns do.
    """
    yield from _pairs(clause, small)
    words = WORD.findall(clause)
    for at, written in enumerate(words):
        word = written.lower()
        is_noun = len(word) >= LETTERS_MIN and word.isalpha() and word not in small and not word.endswith("ly")
        if not is_noun or (word != written and (at or not NOUN_END.search(word))):
            continue
        is_led = at > 0 and words[at - 1].lower() in BEFORE
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        does = is_action(following, "en")
        if (is_led and (does or not following or following in small)) or (at == 0 and does):
            yield normalised(word), does and (at == 0 or (at == 1 and is_led))


def _pairs(clause: str, small: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield pairs of words that stand where nouns do: `the courier app`, and at the start `heat pump is`."""
    words, stops = fold_text(clause).split(), stops_of("en")
    named = {normalised(word) for word in WORD.findall(clause)[1:] if word[0].isupper()}
    whole = {normalised(found[0]) for found in CAPITALS.finditer(clause)}
    for at, (first, second) in enumerate(pairwise(words)):
        if first in small or second in stops or not (first.isalpha() and second.isalpha()):
            continue
        is_beside = second in named and f"{first} {second}" not in whole
        if is_beside or is_action(second, "en"):
            continue
        following = words[at + 2] if at + 2 < len(words) else ""
        does = is_action(following, "en")
        is_led = at > 0 and words[at - 1] in BEFORE
        is_end = not following or following in small or THIRD.search(following) is not None
        is_whole = at == 0 and is_end and not DOES.search(first)
        if (is_led and (does or not following or following in small)) or (at == 0 and does) or is_whole:
            is_headed = is_whole and clause[:1].isupper() and first not in MOODS  # `Stability test, 24 hours.`
            is_theme = is_headed or ((does or following == "now") and (at == 0 or (at == 1 and is_led)))
            yield f"{first} {second}", is_theme


def _german_nouns(clause: str, small: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield nouns after an article: `in der Laube`, and at the start `Das Hochbeet ist` or `Mieterstrom kostet`."""
    words = WORD.findall(clause)
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        name = normalised(word)
        is_noun = word[0].isupper() and word[1:].islower() and len(word) >= LETTERS_MIN and not following[:1].isupper()
        is_led = words[at - 1].lower() in DETERMINERS if at else is_action(following, "de")
        if not is_noun or not is_led or following.isdigit():
            continue
        is_small = not small.isdisjoint((name, word.lower())) or name in NO_ARTICLE or name in KINDS_OF_PLACE
        if not is_small and not ABSTRACT.search(name):
            yield name, at <= 1 and following.islower()


def _romance(clause: str, small: Set[str], language: str) -> Iterator[tuple[str, bool]]:
    """Yield nouns after an article: `le tilleul`, and at the start `El huerto está`.

    A noun with a complement counts as one: `le local à vélos`.
    """
    words = WORD.findall(ELIDED_ARTICLE.sub(r"\1 ", clause))
    articles = ARTICLES[language]
    for at, word in enumerate(words):
        is_led = at > 0 and words[at - 1].lower() in articles
        if is_led and word.islower() and at + 1 < len(words) and ELIDED_OF.fullmatch(words[at + 1]):
            yield normalised(f"{word} {words[at + 1]}"), False
        if not is_led or not word.islower() or len(word) < LETTERS_MIN or word in small or word.endswith(ADVERB):
            continue
        name, end = word, at + 1
        joined = words[at + 1 : at + 3]
        if len(joined) == 2 and joined[0] in OF and joined[1].islower() and joined[1] not in small and joined[1][3:]:
            name, end = f"{word} {' '.join(joined)}", at + 3
        following = words[end].lower() if end < len(words) else ""
        yield normalised(name), at == 1 and is_action(following, language)


def _link_texts(raw: str) -> Iterator[str]:
    """Yield the texts of the links of a line to pages of the same wiki."""
    for link in LINK.findall(raw) if "](" in raw else ():
        shown, _, target = link.lstrip("!")[1:-1].partition("](")
        if shown and target and "://" not in target and not target.startswith(("#", "mailto:")):
            yield shown


def _spaced(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count nouns and pairs of words by the number of sentences in which they stand where nouns do.

    A word that stands alone in a sentence counts also as the first word of pairs (`about adoption`, `an adoption
    agency`), or if ANYWHERE_MIN sentences have it in any place.
    """
    small = stops_of(language) | GENERIC["en"]
    headed = "".join(heads)
    counts: Counter[str] = Counter()
    leading: Counter[str] = Counter()
    for sentence in sentences:
        nouns = set(_nouns(sentence, small))
        counts.update(nouns)
        leading.update({noun.split()[0] for noun in nouns if " " in noun} - nouns)
    said = {
        name: count
        for name, count in counts.items()
        if count >= SENTENCES_MIN or (f" {name} " in headed and " " in name)
    }
    pairs = {word for name in said if " " in name for word in name.split()}
    anywhere = Counter(word for sentence in sentences for word in set(sentence.words.split()) if word in counts)
    for name, count in counts.items():
        if name not in said and (leading[name] or anywhere[name] >= ANYWHERE_MIN):
            said[name] = count + leading[name]
    return Counter({name: count for name, count in said.items() if name not in pairs})


def _nouns(sentence: Sentence, small: Container[str]) -> Iterator[str]:
    """Yield one or two words after an article or a preposition, and before a stop word or the end."""
    words = sentence.words.split()
    for at, word in enumerate(words):
        if word in small or not word.isalpha() or (at + 1 < len(words) and words[at + 1] not in small):
            continue
        first = at
        while (
            first and words[first - 1] not in small and words[first - 1] not in PURSUING and words[first - 1].isalpha()
        ):
            first -= 1
        before = words[first - 1] if first else ""
        if at - first > 1 or not (before in BEFORE or (at == first and before in PURSUING)):
            continue
        if at > first:
            yield f"{words[first]} {word}"
        elif len(word) >= LETTERS_MIN and not word.endswith("ly"):
            yield word


def _german(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count nouns, which have capitals, by the number of sentences with them."""
    small = stops_of("de") | GENERIC["de"]
    counts: Counter[str] = Counter()
    for sentence in sentences:
        written = sentence.text.split()
        nouns = {word.strip(".,;:!?()“”„\"'’«»") for word in written[1:] if word[:1].isupper()}
        counts.update(
            {fold_text(noun).strip() for noun in nouns if len(noun) >= LETTERS_MIN and noun.isalpha()} - small
        )
    headed = "".join(heads)
    return Counter({name: count for name, count in counts.items() if count >= SENTENCES_MIN or f" {name} " in headed})


def _chinese(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count the nouns of several words or at least HAN_MIN characters, without those that are only in longer ones."""
    heads = tuple(heads)
    counts: Counter[str] = Counter()
    for text in (*(sentence.text for sentence in sentences), *heads):
        counts.update(noun.text for noun in nouns(text, GENERIC["zh"]) if noun.words > 1 or len(noun.text) >= HAN_MIN)
    headed = "\n".join(heads)
    said = {
        name: count for name, count in counts.items() if count >= (SENTENCES_MIN if name in headed else CHINESE_MIN)
    }
    return Counter({name: count for name, count in said.items() if not any(name in other != name for other in said)})


def _japanese(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count runs of kanji by the number of sentences and titles with them."""
    counts: Counter[str] = Counter()
    for text in (*(sentence.words for sentence in sentences), *heads):
        counts.update(set(KANJI.findall(text)))
    return Counter({name: count for name, count in counts.items() if count >= SENTENCES_MIN})
