"""Claims of pages that newer sources override: found by rules, taken out of the texts, and recorded in the transaction
that writes these.

A section is written anew from all that it cites, so what was superseded once would come back: the claims that a page
has are taken out of every text that is written for it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from content.claims import claims
from content.claims.claims import Statement
from content.claims.corrections import Verdict, densities, judge, may_correct
from content.markdown.sections import Section
from content.search.words import words
from db.connection import Row
from db.ids import new_id
from db.sql import statements
from lib.threads import read_in_thread
from resolvers.transactions.writer import Writer

from ..extraction.reading_cache import reading_of
from ..planner import Disputed, SourceText
from ..quoting import bullet, label_of

CLAIMS = statements("review/claims")
CANDIDATES_MAX, COMPARED_MAX = 20, 12  # sentences of a batch for one page, and statements that one is held against
JUDGED_MAX = 20  # pairs of one batch that a judge beside the rules is asked about


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A claim that a page has made and that was superseded, or withdrawn since."""

    fact: str
    superseded_on: datetime
    digest: bytes
    is_withdrawn: bool


Known = Mapping[UUID, Sequence[KnownClaim]]
Facts = Mapping[UUID, Row]


async def find_known(reader: Writer, page_ids: Collection[UUID]) -> Known:
    """Return the claims of these pages; one statement."""
    found: dict[UUID, list[KnownClaim]] = defaultdict(list)
    for row in await reader.all(CLAIMS["find_of_pages"], page_ids=list(page_ids)) if page_ids else ():
        claim = KnownClaim(row["fact"], row["superseded_on"], row["digest"], row["withdrawn_at"] is not None)
        found[row["page_id"]].append(claim)
    return found


def labels_of(facts: Facts) -> dict[str, Row]:
    """Return what is known of sources by the labels of their marks."""
    return {label_of(id, row["ref"]): row for id, row in facts.items()}


def times_of(labelled: Mapping[str, Row]) -> dict[str, datetime]:
    return {label: row["captured_at"] for label, row in labelled.items()}


def without_superseded(body: str, known: Iterable[KnownClaim], captured_at: Mapping[str, datetime]) -> str:
    """Return the text without the quotes of what was superseded, as far as their sources are not newer."""
    for claim in known:
        if claim.is_withdrawn:
            continue
        for said in reversed(claims.statements(body)):
            if is_same_claim(said.text, claim.fact) and is_older(said, claim.superseded_on, captured_at):
                body = claims.without_statement(body, said)
    return body


def is_same_claim(text: str, fact: str) -> bool:
    """Return whether a quote says the fact and little else: a word that somebody superseded may be in any of them."""
    return claims.has_claim(text, fact) and 2 * len(fact) >= len(text)


def is_older(said: Statement, than: datetime, captured_at: Mapping[str, datetime]) -> bool:
    """Return whether all that a statement cites is known, and was captured before."""
    return all(label in captured_at and captured_at[label] < than for label in said.labels)


class RuleJudge:
    """A `Judge` of rules."""

    async def judge(self, disputed: Disputed) -> Verdict:
        return judge(disputed.older, disputed.newer, disputed.names)


class Verdicts:
    """The verdicts on what candidates may override: those of the rules, or those that another judge gave before.

    Only of two sentences that are of one thing by the rules is anybody asked. Until somebody was, nothing is
    overridden: `missing` are those pairs.
    """

    def __init__(self, given: Mapping[tuple[str, str], Verdict] | None = None) -> None:
        """Without `given` verdicts the rules judge."""
        self.given = given
        self.missing: dict[tuple[str, str], Disputed] = {}

    def of(self, older: str, newer: str, names: Collection[str]) -> Verdict:
        verdict = judge(older, newer, names)
        if self.given is None or verdict is Verdict.UNRELATED:
            return verdict
        pair = older, newer
        if pair in self.given:
            return self.given[pair]
        if len(self.given) + len(self.missing) < JUDGED_MAX:
            self.missing[pair] = Disputed(older, newer, frozenset(names))
        return Verdict.UNRELATED


class Correction(NamedTuple):
    """A sentence of a source that may override something, and how many forms of correction it has."""

    source: SourceText
    text: str
    score: int


class Corrected(NamedTuple):
    """The sections of a page as they say what holds now, the claims to be recorded, and what the sections cite now."""

    sections: tuple[Section, ...]
    claims: tuple[dict[str, Any], ...]
    cited: Mapping[str, tuple[UUID, ...]]


async def corrections_of(source: SourceText) -> list[Correction]:
    """Return the sentences of a source that say that something changed."""
    await asyncio.sleep(0)
    if not may_correct(source.content):
        return []
    texts = [sentence.text for sentence in reading_of(source).sentences]
    scores = await read_in_thread(len(source.content), densities, texts)
    return [Correction(source, text, score) for text, score in zip(texts, scores, strict=True) if score]


def foremost(corrections: Iterable[Correction]) -> list[Correction]:
    """Return those that a page is held against: the densest and newest, in the order of their sources."""
    found = list(corrections)
    found.sort(key=lambda one: (-one.score, -one.source.captured_at.timestamp(), str(one.source.id), one.text))
    return sorted(found[:CANDIDATES_MAX], key=lambda one: (one.source.captured_at, str(one.source.id)))


async def correct_sections(
    page_id: UUID,
    sections: tuple[Section, ...],
    names: Collection[str],
    candidates: Sequence[Correction],
    known: Sequence[KnownClaim],
    labelled: Mapping[str, Row],
    verdicts: Verdicts,
) -> Corrected:
    """Hold each candidate against what the sections quote from older sources, and rewrite what it overrides."""
    digests = {claim.digest for claim in known}
    found: list[dict[str, Any]] = []
    cited: dict[str, tuple[UUID, ...]] = defaultdict(tuple)
    captured_at, read = times_of(labelled), cache(find_quotes)
    for candidate in candidates:
        source, wanted = candidate.source, set(words(candidate.text))
        for place, section in enumerate(sections):
            await asyncio.sleep(0)
            body = section.body
            while said := overridden(
                older_statements(read(body), candidate, wanted, captured_at), candidate, names, digests, verdicts
            ):
                digest = digest_of(said, source)
                if all(row["digest"] != digest for row in found):
                    found.append(row_of(page_id, section, said, candidate, digest, labelled))
                said_now = (body, *(other.body for other in sections if other.slug != section.slug))
                is_told = any(claims.has_claim(claims.unescaped(text), candidate.text) for text in said_now)
                instead = None if is_told else bullet(source, (candidate.text,))
                body = claims.without_statement(body, said, instead)
                cited[section.slug] = tuple(dict.fromkeys((*cited[section.slug], source.id)))
            sections = (*sections[:place], replace(section, body=body), *sections[place + 1 :])
    return Corrected(sections, tuple(found), cited)


def overridden(
    statements: Iterable[Statement],
    by: Correction,
    names: Collection[str],
    known: Collection[bytes],
    verdicts: Verdicts,
) -> Statement | None:
    """Return the first statement that the candidate overrides, and of which that is not known yet."""
    for said in statements:
        if digest_of(said, by.source) in known:
            continue
        if verdicts.of(said.text, by.text, names) is Verdict.OVERRIDES:
            return said
    return None


def digest_of(said: Statement, by: SourceText) -> bytes:
    return claims.digest(said.text, by.kind, by.ref)


class Quoted(NamedTuple):
    """A statement of a section, and the words in it."""

    said: Statement
    words: frozenset[str]


def find_quotes(body: str) -> list[Quoted]:
    """Return what a section quotes."""
    return [Quoted(said, frozenset(words(said.text))) for said in claims.statements(body)]


def older_statements(
    quotes: Iterable[Quoted], candidate: Correction, wanted: Set[str], captured_at: Mapping[str, datetime]
) -> list[Statement]:
    """Return what is quoted from older sources alone, that which shares most of the candidate's words first."""
    shared = [
        (len(wanted & one.words), one.said)
        for one in quotes
        if one.said.text != candidate.text and is_older(one.said, candidate.source.captured_at, captured_at)
    ]
    return [said for count, said in sorted(shared, key=lambda one: -one[0])[:COMPARED_MAX] if count]


def row_of(
    page_id: UUID, section: Section, said: Statement, by: Correction, digest: bytes, labelled: Mapping[str, Row]
) -> dict[str, Any]:
    """Return the claim as a row."""
    newest = max((labelled[label] for label in said.labels), key=lambda row: row["captured_at"])
    return {
        "id": new_id(),
        "page_id": page_id,
        "section_slug": section.slug,
        "heading": section.heading,
        "fact": said.text,
        "replacement": by.text,
        "stated_by_id": newest["id"],
        "overridden_by_id": by.source.id,
        "superseded_on": by.source.captured_at,
        "digest": digest,
    }
