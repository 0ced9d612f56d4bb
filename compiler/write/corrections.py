"""Corrections: claims of pages that newer sources override are removed from the text and recorded as superseded claims.

Both happen in the transaction that stores the text. A section is always written from all sources that it cites, which
would bring superseded claims back. So the recorded claims of a page are removed from every text that is written for it.
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
from content.claims.corrections import Verdict, count_changes, judge, may_correct
from content.markdown.sections import Section
from content.search.words import words
from db.connection import Row
from db.ids import new_id
from db.sql import statements
from lib.threads import offload
from resolvers.transactions.writer import Writer

from ..extraction.reading_cache import reading_of
from ..planner import Disputed, SourceText
from ..quoting import bullet, label_of

CLAIMS = statements("review/claims")
CANDIDATES_MAX, COMPARED_MAX = 20, 12  # sentences of a batch for one page, and statements that each is compared with
JUDGED_MAX = 20  # pairs of sentences of one batch about which a judge is asked


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A superseded claim of a page. If it is withdrawn, the correction was undone."""

    fact: str
    superseded_on: datetime
    digest: bytes
    is_withdrawn: bool


Known = Mapping[UUID, Sequence[KnownClaim]]
Facts = Mapping[UUID, Row]


async def find_known(reader: Writer, page_ids: Collection[UUID]) -> Known:
    """Return the superseded claims of these pages, in one statement."""
    found: dict[UUID, list[KnownClaim]] = defaultdict(list)
    for row in await reader.all(CLAIMS["find_of_pages"], page_ids=list(page_ids)) if page_ids else ():
        claim = KnownClaim(row["fact"], row["superseded_on"], row["digest"], row["withdrawn_at"] is not None)
        found[row["page_id"]].append(claim)
    return found


def labels_of(facts: Facts) -> dict[str, Row]:
    """Return the rows of sources by the labels of their marks."""
    return {label_of(id, row["ref"]): row for id, row in facts.items()}


def times_of(labelled: Mapping[str, Row]) -> dict[str, datetime]:
    """Return when each source was captured, by the label of its mark."""
    return {label: row["captured_at"] for label, row in labelled.items()}


def without_superseded(body: str, known: Iterable[KnownClaim], captured_at: Mapping[str, datetime]) -> str:
    """Return the text without the quotes of superseded claims. A quote that cites a newer source than that stays."""
    for claim in known:
        if claim.is_withdrawn:
            continue
        for statement in reversed(claims.statements(body)):
            if is_same_claim(statement.text, claim.fact) and is_older(statement, claim.superseded_on, captured_at):
                body = claims.without_statement(body, statement)
    return body


def is_same_claim(text: str, fact: str) -> bool:
    """Return whether a quote contains the fact and at most as much again. A short fact may be part of any quote."""
    return claims.has_claim(text, fact) and 2 * len(fact) >= len(text)


def is_older(statement: Statement, than: datetime, captured_at: Mapping[str, datetime]) -> bool:
    """Return whether all sources that the statement cites are known and were captured before this time."""
    return all(label in captured_at and captured_at[label] < than for label in statement.labels)


class RuleJudge:
    """A `Judge` that decides by rules, without a model."""

    async def judge(self, disputed: Disputed) -> Verdict:
        return judge(disputed.older, disputed.newer, disputed.names)


class Verdicts:
    """The verdicts on pairs of sentences: those of the rules, or those that a judge has given before.

    A judge is asked only about pairs that the rules consider related. The pairs that it has not decided yet are
    `missing`, and count as unrelated until then.
    """

    def __init__(self, judged: Mapping[tuple[str, str], Verdict] | None = None) -> None:
        """Set up with the verdicts of the judge, or None if the rules decide alone."""
        self.judged = judged
        self.missing: dict[tuple[str, str], Disputed] = {}

    def of(self, older: str, newer: str, names: Collection[str]) -> Verdict:
        """Return the verdict on two sentences of a page with these names."""
        verdict = judge(older, newer, names)
        if self.judged is None or verdict is Verdict.UNRELATED:
            return verdict
        pair = older, newer
        if pair in self.judged:
            return self.judged[pair]
        if len(self.judged) + len(self.missing) < JUDGED_MAX:
            self.missing[pair] = Disputed(older, newer, frozenset(names))
        return Verdict.UNRELATED


class Correction(NamedTuple):
    """A sentence of a source that may override a claim. `score` counts the phrases in it that express a change."""

    source: SourceText
    text: str
    score: int


class Corrected(NamedTuple):
    """The corrected sections of a page, the superseded claims as rows, and the additional sources of sections."""

    sections: tuple[Section, ...]
    claims: tuple[dict[str, Any], ...]
    cited: Mapping[str, tuple[UUID, ...]]


async def corrections_of(source: SourceText) -> list[Correction]:
    """Return the sentences of a source that say that something changed."""
    await asyncio.sleep(0)
    if not may_correct(source.content):
        return []
    texts = [sentence.text for sentence in reading_of(source).sentences]
    scores = await offload(len(source.content), count_changes, texts)
    return [Correction(source, text, score) for text, score in zip(texts, scores, strict=True) if score]


def select_corrections(corrections: Iterable[Correction]) -> list[Correction]:
    """Return the corrections with the highest scores, and of equals the newest, in the order of their sources."""
    ranked = list(corrections)
    ranked.sort(key=lambda item: (-item.score, -item.source.captured_at.timestamp(), str(item.source.id), item.text))
    return sorted(ranked[:CANDIDATES_MAX], key=lambda item: (item.source.captured_at, str(item.source.id)))


async def correct_sections(
    page_id: UUID,
    sections: tuple[Section, ...],
    names: Collection[str],
    candidates: Sequence[Correction],
    known: Sequence[KnownClaim],
    labelled: Mapping[str, Row],
    verdicts: Verdicts,
) -> Corrected:
    """Replace every quote of an older source that a candidate overrides by a quote of the candidate's source.

    If the page quotes the candidate already, the overridden quote is only removed.
    """
    digests = {claim.digest for claim in known}
    found: list[dict[str, Any]] = []
    cited: dict[str, tuple[UUID, ...]] = defaultdict(tuple)
    captured_at, read = times_of(labelled), cache(find_quotes)
    for candidate in candidates:
        source, wanted = candidate.source, set(words(candidate.text))
        for place, section in enumerate(sections):
            await asyncio.sleep(0)
            body = section.body
            while statement := overridden(
                older_statements(read(body), candidate, wanted, captured_at), candidate, names, digests, verdicts
            ):
                digest = digest_of(statement, source)
                if all(row["digest"] != digest for row in found):
                    found.append(row_of(page_id, section, statement, candidate, digest, labelled))
                said_now = (body, *(other.body for other in sections if other.slug != section.slug))
                is_told = any(claims.has_claim(claims.unescaped(text), candidate.text) for text in said_now)
                instead = None if is_told else bullet(source, (candidate.text,))
                body = claims.without_statement(body, statement, instead)
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
    """Return the first statement that the candidate overrides, without those that are recorded as overridden by it."""
    for statement in statements:
        if digest_of(statement, by.source) in known:
            continue
        if verdicts.of(statement.text, by.text, names) is Verdict.OVERRIDES:
            return statement
    return None


def digest_of(statement: Statement, by: SourceText) -> bytes:
    """Return the digest that identifies a statement that was overridden by a source."""
    return claims.digest(statement.text, by.kind, by.ref)


class Quote(NamedTuple):
    """A statement that a section quotes, with its words."""

    statement: Statement
    words: frozenset[str]


def find_quotes(body: str) -> list[Quote]:
    """Return the quotes in the text of a section."""
    return [Quote(statement, frozenset(words(statement.text))) for statement in claims.statements(body)]


def older_statements(
    quotes: Iterable[Quote], candidate: Correction, wanted: Set[str], captured_at: Mapping[str, datetime]
) -> list[Statement]:
    """Return the statements that only sources older than the candidate support, most similar to it first.

    `wanted` are the words of the candidate; a statement that shares none of them is left out.
    """
    shared = [
        (len(wanted & quote.words), quote.statement)
        for quote in quotes
        if quote.statement.text != candidate.text
        and is_older(quote.statement, candidate.source.captured_at, captured_at)
    ]
    return [statement for count, statement in sorted(shared, key=lambda pair: -pair[0])[:COMPARED_MAX] if count]


def row_of(
    page_id: UUID, section: Section, statement: Statement, by: Correction, digest: bytes, labelled: Mapping[str, Row]
) -> dict[str, Any]:
    """Return the superseded claim as a row of its table."""
    newest = max((labelled[label] for label in statement.labels), key=lambda row: row["captured_at"])
    return {
        "id": new_id(),
        "page_id": page_id,
        "section_slug": section.slug,
        "heading": section.heading,
        "fact": statement.text,
        "replacement": by.text,
        "stated_by_id": newest["id"],
        "overridden_by_id": by.source.id,
        "superseded_on": by.source.captured_at,
        "digest": digest,
    }
