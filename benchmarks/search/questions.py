"""Generates questions to a wiki from its own words. The same seed gives the same questions."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..wikis import TAGS, TYPES
from .prose import SPACELESS_EVERY
from .wiki import Article

WORD = re.compile(r"[a-z]{3,}")
RUN = re.compile(r"\w{2,}")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Stop words: search drops them from every question, so they must not count as common words.
STOP_WORDS = WORD.findall("""
    about after all also and any are because been before being between both but can did does doing down during each
    few for from further had has have having here how into its itself just more most not now off once only other our
    out over own same should some such than that the their them then there these they this those through too under
    until very was were what when where which while who whom why will with you your
""")
MAX_PAGES_QUOTED = 2_000  # pages from which words are taken
LONG, QUESTION = 5, 8


class QuotedPage(NamedTuple):
    """A page from which words are taken."""

    title: str
    text: str


class Vocabulary:
    """The words of a wiki by frequency, and some of its pages."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self.latin: list[QuotedPage] = []
        self.spaceless: list[str] = []
        counts: Counter[str] = Counter()
        for number, article in enumerate(articles):
            page = article.page
            if number % SPACELESS_EVERY == SPACELESS_EVERY - 1:
                self.spaceless += [section.body for section in page.sections if section.body][:1]
                continue
            counts.update(set(WORD.findall(f"{page.title} {page.body}".lower())))
            if len(self.latin) < MAX_PAGES_QUOTED:
                self.latin.append(QuotedPage(page.title, page.sections[0].body))
        pages = number + 1
        for word in STOP_WORDS:
            del counts[word]
        self.rare = between(counts, 2, 6)
        self.middling = between(counts, pages / 200, pages / 50)
        self.common = between(counts, pages / 10, pages / 2)


def between(counts: Counter[str], minimum: float, maximum: float) -> list[str]:
    return sorted(word for word, pages in counts.items() if minimum <= pages <= maximum)


Make = Callable[[random.Random, Vocabulary], str]


def rare(rng: random.Random, vocabulary: Vocabulary) -> str:
    return rng.choice(vocabulary.rare)


def common(rng: random.Random, vocabulary: Vocabulary) -> str:
    return rng.choice(vocabulary.common)


def two_common(rng: random.Random, vocabulary: Vocabulary) -> str:
    return " ".join(rng.sample(vocabulary.common, 2))


def middling(rng: random.Random, vocabulary: Vocabulary) -> str:
    return " ".join(rng.sample(vocabulary.middling, 3))


def question(rng: random.Random, vocabulary: Vocabulary) -> str:
    """Return adjacent words of a text, including its stop words."""
    return " ".join(quoted(rng, vocabulary, QUESTION))


def title(rng: random.Random, vocabulary: Vocabulary) -> str:
    return rng.choice(vocabulary.latin).title


def prefix(rng: random.Random, vocabulary: Vocabulary) -> str:
    word = long_word(rng, vocabulary)
    return word[: rng.randint(2, len(word) - 1)]


def prefixes(rng: random.Random, vocabulary: Vocabulary) -> str:
    """Return a title while it is being typed: its last word is incomplete."""
    words = next(words for _ in range(MAX_PAGES_QUOTED) if len(words := title(rng, vocabulary).split()) > 2)
    return " ".join([*words[:-1], words[-1][: max(1, len(words[-1]) // 2)]])


def phrase(rng: random.Random, vocabulary: Vocabulary) -> str:
    return f'"{" ".join(quoted(rng, vocabulary, 3))}"'


def by_type(rng: random.Random, vocabulary: Vocabulary) -> str:
    return f"{rng.choice(vocabulary.middling)} type:{rng.choice(TYPES)}"


def by_tag(rng: random.Random, vocabulary: Vocabulary) -> str:
    return f"{rng.choice(vocabulary.common)} tag:{rng.choice(TAGS)}"


def one_typo(rng: random.Random, vocabulary: Vocabulary) -> str:
    return misspell(rng, typable(rng, vocabulary))


def two_typos(rng: random.Random, vocabulary: Vocabulary) -> str:
    return misspell(rng, misspell(rng, typable(rng, vocabulary)))


def wrong_word(rng: random.Random, vocabulary: Vocabulary) -> str:
    """Insert a word that no page contains into a title."""
    words = title(rng, vocabulary).split()
    words.insert(rng.randint(0, len(words)), nonsense(rng, vocabulary))
    return " ".join(words)


def nonsense(rng: random.Random, vocabulary: Vocabulary) -> str:
    return "".join(rng.choices(LETTERS, k=rng.randint(6, 11)))


def spaceless(rng: random.Random, vocabulary: Vocabulary) -> str:
    """Return a few characters of a text without spaces."""
    text = rng.choice(vocabulary.spaceless)
    run: str = rng.choice([run for run in RUN.findall(text) if not run.isascii()] or [text])
    at = rng.randrange(max(1, len(run) - 4))
    return run[at : at + 4]


KINDS: dict[str, Make] = {
    "rare word": rare,
    "common word": common,
    "two common": two_common,
    "three middling": middling,
    "question of 8": question,
    "title": title,
    "prefix": prefix,
    "words and prefix": prefixes,
    "phrase": phrase,
    "word, type:": by_type,
    "word, tag:": by_tag,
    "one wrong word": wrong_word,
    "nonsense": nonsense,
    "no spaces": spaceless,
    "one typo": one_typo,
    "two typos": two_typos,
}
TYPOS = ("one typo", "two typos")


def quoted(rng: random.Random, vocabulary: Vocabulary, count: int) -> list[str]:
    """Return `count` adjacent words of a random text."""
    texts = (WORD.findall(rng.choice(vocabulary.latin).text.lower()) for _ in range(MAX_PAGES_QUOTED))
    words = next(words for words in texts if len(words) >= count)
    at = rng.randint(0, len(words) - count)
    return words[at : at + count]


def typable(rng: random.Random, vocabulary: Vocabulary) -> str:
    """Return a title with a word that is long enough to be recognised after a typo."""
    return next(text for _ in range(MAX_PAGES_QUOTED) if any(map(is_long, (text := title(rng, vocabulary)).split())))


def long_word(rng: random.Random, vocabulary: Vocabulary) -> str:
    return next(word for word in typable(rng, vocabulary).split() if is_long(word))


def is_long(word: str) -> bool:
    return len(word) >= LONG and word.isalpha() and word.isascii()


def misspell(rng: random.Random, text: str) -> str:
    """Leave out, double, change or swap a letter of a long word. The first letter is as likely as the others."""
    words = text.split()
    place = rng.choice([place for place, word in enumerate(words) if len(word) >= LONG - 1] or [0])
    word = words[place]
    at = rng.randrange(len(word))
    wrong = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + rng.choice(LETTERS) + word[at + 1 :],
        word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
    )
    words[place] = rng.choice(wrong)
    return " ".join(words)


def questions(vocabulary: Vocabulary, count: int) -> dict[str, list[str]]:
    """Return `count` questions of each kind."""
    return {
        kind: [make(random.Random(f"{kind} {n}"), vocabulary) for n in range(count)] for kind, make in KINDS.items()
    }
