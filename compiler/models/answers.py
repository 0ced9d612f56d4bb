"""The schemas of a model's answers, which the model sees. The answers are checked before they reach the wiki.

A model names sources, pages and mentions by the short handles that the request gave them (`s1`, `p2`, `m3`), so it
cannot name any others.
"""

import re
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from content.markdown.plain import plain
from content.normalization import INVISIBLE
from content.templates import TEMPLATES

from ..planner import SourceText

TYPES = tuple(TEMPLATES)
PageType = Annotated[str, Field(json_schema_extra={"enum": list(TYPES)}, description="The kind of page.")]
Sources = Annotated[list[str], Field(description="Handles of the sources that say so: s1, s2.")]


class SectionAnswer(BaseModel):
    """A section that these sources have something to say in."""

    slug: str = Field(description="Lower case with underscores: overview, notes, visits.")
    heading: str | None = Field(None, description="Only for a section that the page does not usually have.")
    sources: Sources = []


class PageAnswer(BaseModel):
    """A page that should be made."""

    handle: str = Field("", description="n1, n2, …: for links.")
    type: PageType
    title: str = Field(description="The name, as the sources write it.")
    summary: str | None = Field(None, description="One sentence in the language of the sources.")
    aliases: list[str] = Field([], description="Other names that the sources use.")
    tags: list[str] = []
    sections: list[SectionAnswer] = []
    promotes: list[str] = Field([], description="Handles of the mentions that it is about: m1.")


class UpdateAnswer(BaseModel):
    """News for a page that was shown."""

    page: str = Field(description="Its handle: p1.")
    summary: str | None = Field(None, description="Only where the shown one is wrong or missing.")
    aliases: list[str] = []
    tags: list[str] = []
    sections: list[SectionAnswer] = []


class HeldAnswer(BaseModel):
    """A name that may earn a page later."""

    name: str
    source: str = Field(description="Handle of the source that says it.")
    quote: str = Field("", description="The sentence of the source that says it, letter by letter.")
    type: PageType | None = None


class LinkAnswer(BaseModel):
    """One page refers to another."""

    start: str = Field(description="Handle of a page: p1 or n1.")
    end: str = Field(description="Handle of another.")
    sources: Sources = []


class PlanAnswer(BaseModel):
    """The pages, updates, names and links that the wiki should hold because of the new sources."""

    pages: list[PageAnswer] = []
    updates: list[UpdateAnswer] = []
    held: list[HeldAnswer] = []
    links: list[LinkAnswer] = []


class StatementAnswer(BaseModel):
    """One thing that sources say."""

    text: str = Field(description="One or two sentences in the language of the sources. Titles of pages in **bold**.")
    quote: str | None = Field(None, description="Words of one of its sources, letter by letter, where they matter.")
    sources: Sources = []


class SectionTextAnswer(BaseModel):
    """The section, statement by statement, the most important first."""

    statements: list[StatementAnswer] = []


class VerdictAnswer(BaseModel):
    """The effect of the newer sentence on the older one."""

    verdict: Literal["overrides", "adds", "unrelated"]
    quote: str | None = Field(None, description="With overrides: the words of the newer sentence that say so.")


QUOTE_MIN, QUOTE_MAX = 2, 600
LENGTH = f"{{{QUOTE_MIN},{QUOTE_MAX}}}"
# Text between the quotation marks of any language. Apostrophes are no quotation marks.
QUOTATION = re.compile("|".join(rf"{a}([^{a}{b}\n]{LENGTH}){b}" for a, b in ("“”", "„“", "„”", "«»", "「」", '""')))


def is_verbatim(quote: str, source: SourceText) -> bool:
    """Return whether a source contains a quote, ignoring white space and markup."""
    wanted = " ".join(INVISIBLE.sub("", quote).split())
    return len(wanted) >= QUOTE_MIN and any(wanted in text for text in readable(source.content))


@lru_cache(maxsize=200)
def readable(content: str) -> tuple[str, str]:
    """Return the text on one line, once with its markup and once without."""
    content = INVISIBLE.sub("", content)
    return " ".join(content.split()), plain(content)


def quotations(text: str) -> list[str]:
    """Return the parts of the text between quotation marks."""
    return [next(filter(None, found.groups())) for found in QUOTATION.finditer(text)]
