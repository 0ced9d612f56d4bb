"""The state of a rollup section, and whether it is dense enough to be promoted to a topic of its own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

NONE, CANDIDATE, PROMOTED, SUPPRESSED = "none", "candidate", "promoted", "suppressed"
CANDIDATE_MIN, READY_MIN = 0.40, 0.55
# The minimum of listed pages, sources and days for a promotion.
LINKS_READY, RECORDS_READY, DAYS_READY = 15, 20, 30
# The values from which on each part of the score is full.
LINKS_FULL, RECORDS_FULL, DAYS_FULL, CHARACTERS_FULL = 20, 30, 30, 1_800
TAGS_MAX = 20


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The state of a rollup section, as the column `sections.aggregation` stores it."""

    linked_page_ids: tuple[UUID, ...] = ()
    """The listed pages."""
    supporting_record_count: int = 0
    """The number of sources that these pages cite."""
    first_source_at: datetime | None = None
    last_source_at: datetime | None = None
    observed_tags: tuple[str, ...] = ()
    """The most common tags of the listed pages."""
    promotion_status: str = NONE
    promotion_score: float = 0.0
    promoted_page_id: UUID | None = None
    """The topic to which the section was promoted."""
    line_digests: tuple[str, ...] = ()
    """For each listed page, the digest of its line as it was written, by which lines of people are recognised."""
    dismissed_page_ids: tuple[UUID, ...] = ()
    """The pages whose lines a person removed."""
    tag: str | None = None
    """The tag that all pages of the section have, if it is a part of a topic."""
    is_whole: bool = False
    """Whether it is the main section of a topic that was made from a section. It is never promoted again."""

    @property
    def days(self) -> float:
        """Return the days between the first and the last source."""
        if self.first_source_at is None or self.last_source_at is None:
            return 0.0
        return (self.last_source_at - self.first_source_at).total_seconds() / 86_400

    @property
    def has_lost_page(self) -> bool:
        """Return whether the section was promoted, and the topic was deleted since."""
        return self.promotion_status == PROMOTED and self.promoted_page_id is None

    @property
    def as_suppressed(self) -> "Aggregation":
        """Return the state after its topic was deleted: the section lists pages again and is not promoted again,
        because a person did not want the topic. The digests of its old lines are dropped."""
        return replace(self, promotion_status=SUPPRESSED, line_digests=())

    @property
    def stored(self) -> dict[str, Any]:
        return {
            "linked_page_ids": [str(id) for id in self.linked_page_ids],
            "supporting_record_count": self.supporting_record_count,
            "first_source_at": format_time(self.first_source_at),
            "last_source_at": format_time(self.last_source_at),
            "observed_tags": list(self.observed_tags),
            "promotion_status": self.promotion_status,
            "promotion_score": self.promotion_score,
            "promoted_page_id": str(self.promoted_page_id) if self.promoted_page_id else None,
            "line_digests": list(self.line_digests),
            "dismissed_page_ids": [str(id) for id in self.dismissed_page_ids],
            "tag": self.tag,
            "is_whole": self.is_whole,
        }


def parse_aggregation(stored: Mapping[str, Any]) -> Aggregation:
    """Return the state that a row stores. A field of an unexpected form counts as missing."""
    status = stored.get("promotion_status")
    return Aggregation(
        linked_page_ids=identifiers(stored.get("linked_page_ids")),
        supporting_record_count=count if isinstance(count := stored.get("supporting_record_count"), int) else 0,
        first_source_at=parse_time(stored.get("first_source_at")),
        last_source_at=parse_time(stored.get("last_source_at")),
        observed_tags=texts(stored.get("observed_tags")),
        promotion_status=status if status in (CANDIDATE, PROMOTED, SUPPRESSED) else NONE,
        promotion_score=float(score) if isinstance(score := stored.get("promotion_score"), int | float) else 0.0,
        promoted_page_id=next(iter(identifiers([stored.get("promoted_page_id")])), None),
        line_digests=texts(stored.get("line_digests")),
        dismissed_page_ids=identifiers(stored.get("dismissed_page_ids")),
        tag=tag if isinstance(tag := stored.get("tag"), str) else None,
        is_whole=stored.get("is_whole") is True,
    )


def score(known: Aggregation, tags: Sequence[Sequence[str]], characters: int) -> float:
    """Return the density of a section from 0 to 1. `tags` are the tags of each listed page."""
    parts = (
        0.25 * min(1.0, len(known.linked_page_ids) / LINKS_FULL),
        0.25 * min(1.0, known.supporting_record_count / RECORDS_FULL),
        0.20 * min(1.0, known.days / DAYS_FULL),
        0.15 * coherence(tags, known.observed_tags),
        0.15 * min(1.0, characters / CHARACTERS_FULL),
    )
    return round(sum(parts), 4)


def coherence(tags: Sequence[Sequence[str]], observed: Sequence[str]) -> float:
    """Return the share of the pages that have at least one of the observed tags."""
    return sum(not set(observed).isdisjoint(page_tags) for page_tags in tags) / len(tags) if tags else 0.0


def overlap(tags: Sequence[Sequence[str]]) -> bool:
    """Return whether two of the pages have a tag in common."""
    return any(count > 1 for count in Counter(tag for page_tags in tags for tag in set(page_tags)).values())


def is_ready(known: Aggregation, tags: Sequence[Sequence[str]]) -> bool:
    """Return whether the section may be promoted: it is dense enough, and was neither promoted nor suppressed."""
    return (
        known.promotion_status in (NONE, CANDIDATE)
        and not known.is_whole
        and known.promotion_score >= READY_MIN
        and len(known.linked_page_ids) >= LINKS_READY
        and known.supporting_record_count >= RECORDS_READY
        and known.days >= DAYS_READY
        and overlap(tags)
    )


def status(known: Aggregation, points: float) -> str:
    """Return the status for a score. The status `promoted` or `suppressed` stays."""
    if known.promotion_status in (PROMOTED, SUPPRESSED):
        return known.promotion_status
    return CANDIDATE if points >= CANDIDATE_MIN and not known.is_whole else NONE


def format_time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def parse_time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def identifiers(values: object) -> tuple[UUID, ...]:
    return tuple(id for value in values if (id := identifier(value))) if isinstance(values, list) else ()


def identifier(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def texts(values: object) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
