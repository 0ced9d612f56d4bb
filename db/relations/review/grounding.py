"""The grounding of pages: how many of their sentences their cited sources support, and the confidence in a page."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Integer,
    Select,
    Text,
    and_,
    case,
    cast,
    column,
    func,
    literal,
    null,
    or_,
    select,
    true,
    tuple_,
)

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ...tables import contradictions, section_sources, sections, sources

MANY, ONE = literal(3, Integer), literal(1, Integer)


def of_page(page: OuterRow) -> Select[Any]:
    section = sections.alias()
    return counts(section, page.c.id, section.c.page_id == page.c.id)


def of_section(own: OuterRow) -> Select[Any]:
    section = sections.alias()
    return counts(section, own.c.page_id, section.c.id == own.c.id)


def counts(section: Any, page_id: Any, where: ColumnElement[bool]) -> Select[Any]:
    """Select the numbers of sentences in sections that are grounded, unverified and stale.

    `supported_at` has the time of the supporting source for each sentence, or null. A sentence is stale if its source
    is older than the newest source of the page.
    """
    at: Any = column("at", DateTime(timezone=True))
    sentence = func.unnest(section.c.supported_at).table_valued(at).render_derived().lateral()
    newest = newest_source(page_id)
    is_stale = and_(sentence.c.at.is_not(None), sentence.c.at < newest)
    is_fresh = and_(sentence.c.at.is_not(None), ~func.coalesce(is_stale, False))
    tallies: tuple[Any, ...] = (
        func.count().filter(is_fresh).label("grounded"),
        func.count().filter(sentence.c.at.is_(None)).label("unverified"),
        func.count().filter(is_stale).label("stale"),
    )
    row = in_tenant(select(*tallies).select_from(section.join(sentence, true())).where(where)).subquery()
    return select(row)


def newest_source(page_id: Any) -> ColumnElement[Any]:
    section = sections.alias()
    return in_tenant(select(func.max(section.c.last_source_at)).where(section.c.page_id == page_id)).scalar_subquery()


def confidence(page: OuterRow) -> ColumnElement[Any]:
    """Return the confidence in a page: `low`, `medium` or `high`.

    It depends on the number of independent sources, and is not `high` if a sentence is unsupported or a contradiction
    is open.
    """
    cited, source, section, disputed = (table.alias() for table in (section_sources, sources, sections, contradictions))
    refs, texts = func.distinct(tuple_(source.c.kind, source.c.ref)), func.distinct(source.c.checksum)
    independent = in_tenant(
        select(func.least(func.count(refs), func.count(texts)))
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.page_id == page.c.id)
    ).scalar_subquery()
    nothing = cast(null(), DateTime(timezone=True))
    unsupported = in_tenant(
        select(section.c.id).where(
            section.c.page_id == page.c.id, func.array_position(section.c.supported_at, nothing).is_not(None)
        )
    ).exists()
    contested = in_tenant(
        select(disputed.c.id).where(disputed.c.page_id == page.c.id, disputed.c.status == "open")
    ).exists()
    return case(
        (independent <= ONE, cast("low", Text)),
        (or_(independent < MANY, unsupported, contested), cast("medium", Text)),
        else_=cast("high", Text),
    )
