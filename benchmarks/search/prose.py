"""Generates pages by recombining sentences, titles and headings of real documents.

So words are as frequent, and occur together as often, as in the collections. The same seed gives the same pages.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from math import sqrt
from pathlib import Path

from content.markdown.sections import Section, slugs
from content.names import NoSlug, numbered_slug, slugify
from resolvers.model.pages import Page

from ..wikis import START, TAGS, TYPES, Wiki
from .collection import Collection, read_all, was_heading
from .wiki import Article

LATIN = ("cacm", "cisi", "cppdocs", "cran", "hugo", "obs_en")
SPACELESS = ("obs_ko", "obs_th", "obs_zh")
SPACELESS_EVERY = 50  # one page in this many is in a script without spaces
PASSAGE = 42  # words of a passage, approximately: four passages make a page of 170 words
PASSAGES = 4
LETTERS = 120  # characters of a passage without spaces
LINKS = 3
SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
PLAIN = re.compile(r"\w[\w ,'-]*\??")
MARKS = re.compile(r"^[#>\-*+|`~\s]+|[`<|]")  # marks that would be code, a heading or HTML in the middle of a text


@dataclass(frozen=True, slots=True)
class Text:
    """The title, the passages and the headings of a document."""

    title: str
    passages: tuple[str, ...]
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stock:
    """The texts that pages are made of. Documents of one collection stay together: their pages share a topic."""

    latin: tuple[tuple[Text, ...], ...]
    spaceless: tuple[tuple[Text, ...], ...]


def stock(data: Path | None) -> Stock:
    return Stock(*(tuple(texts(document) for document in read_all(data, names)) for names in (LATIN, SPACELESS)))


def texts(collection: Collection) -> tuple[Text, ...]:
    """Return the texts of a collection, without documents that have no title or no passages."""
    found = []
    for document in filter(lambda document: document.title.strip(), collection.documents):
        lines = document.text.split("\n")
        headings = tuple(line.strip() for line in lines if was_heading(line) and PLAIN.fullmatch(line.strip()))
        if passages_found := tuple(passages("\n".join(line for line in lines if not was_heading(line)))):
            found.append(Text(" ".join(document.title.split()), passages_found, headings))
    return tuple(found)


def passages(text: str) -> Iterator[str]:
    """Yield passages of consecutive sentences, about 42 words each."""
    sentences: list[str] = []
    size = 0.0
    for sentence in SENTENCE.split(text):
        if clean := MARKS.sub("", sentence).strip():
            sentences.append(clean)
            size += max(clean.count(" ") + 1, len(clean) / 12 if clean.isascii() else len(clean) * PASSAGE / LETTERS)
        if size >= PASSAGE:
            yield " ".join(sentences)
            sentences, size = [], 0.0
    if sentences:
        yield " ".join(sentences)


class Author:
    """Writes the pages of one wiki."""

    def __init__(self, wiki: Wiki, stock: Stock) -> None:
        self.wiki, self.stock, self.rng = wiki, stock, random.Random(wiki.owner_id.int)
        self.taken: set[str] = set()

    def articles(self) -> Iterator[Article]:
        return map(self.article, range(self.wiki.pages))

    def article(self, number: int) -> Article:
        rng = self.rng
        subject = self.subject(
            self.stock.spaceless if number % SPACELESS_EVERY == SPACELESS_EVERY - 1 else self.stock.latin
        )
        first, second, third, fourth = (rng.choice(subject) for _ in range(4))
        title = joined(rng, first.title, second.title)
        passages_found = dict.fromkeys(rng.choice(text.passages) for text in (first, first, second, third, fourth))
        passages = list(passages_found)[:PASSAGES]
        page = Page(
            id=self.wiki.page(number),
            type=TYPES[number % len(TYPES)],
            slug=self.slug(title),
            title=title,
            summary=" ".join(rng.choice(first.passages).split()[:15]),
            sections=sections(passages, [heading(rng, text) for text in (first, second)]),
            tags=tuple(rng.sample(TAGS, 2)),
        )
        aliases = (joined(rng, second.title, third.title),)
        linked = tuple({rng.randrange(self.wiki.pages) for _ in range(LINKS)})
        return Article(page, aliases, linked, LINKS, START + timedelta(minutes=number))

    def subject(self, collections: Sequence[Sequence[Text]]) -> Sequence[Text]:
        """Draw a collection with the square root of its size as weight, so that large ones do not dominate."""
        return self.rng.choices(collections, [sqrt(len(collection)) for collection in collections])[0]

    def slug(self, title: str) -> str:
        try:
            slug = slugify(title)
        except NoSlug:
            slug = "page"
        if slug in self.taken:
            slug = next(
                candidate for n in count(len(self.taken)) if (candidate := numbered_slug(slug, n)) not in self.taken
            )
        self.taken.add(slug)
        return slug


def joined(rng: random.Random, first: str, second: str) -> str:
    """Join the beginning of a title to the end of another. Titles without spaces are joined whole."""
    before, after = first.split(), second.split()
    if len(before) + len(after) <= 2:
        return f"{first} {second}"
    return " ".join([*before[: rng.randint(1, min(4, len(before)))], *after[-rng.randint(1, min(3, len(after))) :]])


def heading(rng: random.Random, text: Text) -> str:
    return rng.choice(text.headings) if text.headings else " ".join(text.title.split()[:6])


def sections(passages: Sequence[str], headings: Sequence[str]) -> tuple[Section, ...]:
    """Return a lead without a heading, and a section under each heading."""
    named = ["", *headings]
    bodies = [*passages[: len(headings)], "\n\n".join(passages[len(headings) :])]
    return tuple(map(Section, slugs(named), named, bodies))
