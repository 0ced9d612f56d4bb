"""Density: the state of a section that lists pages, and whether they are enough for a page of their own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

NONE, CANDIDATE, PROMOTED, SUPPRESSED = "none", "candidate", "promoted", "suppressed"
CANDIDATE_LEAST, READY_LEAST = 0.40, 0.55
LINKS_READY, RECORDS_READY, DAYS_READY = 15, 20, 30
LINKS_FULL, RECORDS_FULL, DAYS_FULL, CHARACTERS_FULL = 20, 30, 30, 1_800
TAGS_MAX = 20


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The state of a section that lists pages, as `sections.aggregation` has it. Times are those of the sources.

    `line_digests` belong to `linked_page_ids`, one each: what was written for it, so that what a person writes is told
    apart. `dismissed_page_ids` are the pages whose lines a person took out. `tag` is what the pages of a part have in
    common; the section that its page grew from `is_whole`, and never grows again.
    """

    linked_page_ids: tuple[UUID, ...] = ()
    supporting_record_count: int = 0
    first_source_at: datetime | None = None
    last_source_at: datetime | None = None
    observed_tags: tuple[str, ...] = ()
    promotion_status: str = NONE
    promotion_score: float = 0.0
    promoted_page_id: UUID | None = None
    line_digests: tuple[str, ...] = ()
    dismissed_page_ids: tuple[UUID, ...] = ()
    tag: str | None = None
    is_whole: bool = False

    @property
    def days(self) -> float:
        """Return the days between the first evidence and the last."""
        if self.first_source_at is None or self.last_source_at is None:
            return 0.0
        return (self.last_source_at - self.first_source_at).total_seconds() / 86_400

    @property
    def is_bereft(self) -> bool:
        """Return whether the page that it grew into was deleted for good."""
        return self.promotion_status == PROMOTED and self.promoted_page_id is None

    @property
    def as_suppressed(self) -> "Aggregation":
        """Return the state of a section that lists pages again, and does not grow: who deleted the page wanted none.

        Its old lines are nobody's.
        """
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


def read(stored: Mapping[str, Any]) -> Aggregation:
    """Return the state that a row holds. A field of an unknown form counts as missing."""
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
    """Return the density of a section from 0 to 1; `tags` are those of each page that it lists."""
    parts = (
        0.25 * min(1.0, len(known.linked_page_ids) / LINKS_FULL),
        0.25 * min(1.0, known.supporting_record_count / RECORDS_FULL),
        0.20 * min(1.0, known.days / DAYS_FULL),
        0.15 * coherence(tags, known.observed_tags),
        0.15 * min(1.0, characters / CHARACTERS_FULL),
    )
    return round(sum(parts), 4)


def coherence(tags: Sequence[Sequence[str]], observed: Sequence[str]) -> float:
    """Return the share of the pages that have a tag among the observed ones."""
    return sum(not set(observed).isdisjoint(own) for own in tags) / len(tags) if tags else 0.0


def overlap(tags: Sequence[Sequence[str]]) -> bool:
    """Return whether two of the pages have a tag in common."""
    return any(count > 1 for count in Counter(tag for own in tags for tag in set(own)).values())


def is_ready(known: Aggregation, tags: Sequence[Sequence[str]]) -> bool:
    """Return whether it is dense, supported, durable and coherent enough, and nobody has said no."""
    return (
        known.promotion_status in (NONE, CANDIDATE)
        and not known.is_whole
        and known.promotion_score >= READY_LEAST
        and len(known.linked_page_ids) >= LINKS_READY
        and known.supporting_record_count >= RECORDS_READY
        and known.days >= DAYS_READY
        and overlap(tags)
    )


def status(known: Aggregation, points: float) -> str:
    """Return the status for a score; `promoted` and `suppressed` stay."""
    if known.promotion_status in (PROMOTED, SUPPRESSED):
        return known.promotion_status
    return CANDIDATE if points >= CANDIDATE_LEAST and not known.is_whole else NONE


def format_time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def parse_time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def identifiers(values: object) -> tuple[UUID, ...]:
    return tuple(id for one in values if (id := identifier(one))) if isinstance(values, list) else ()


def identifier(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def texts(values: object) -> tuple[str, ...]:
    return tuple(one for one in values if isinstance(one, str)) if isinstance(values, list) else ()
