"""Fields in the metadata of a page, as in frontmatter. An invalid value is treated as missing."""

from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    DateTime,
    FromClause,
    Select,
    Text,
    and_,
    any_,
    case,
    cast,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB

from content.sensitivity import LEVELS, STRICTEST, USUAL
from selection.declare.mapping import OuterRow

from ..tables import links, old_slugs, pages
from .references import id_among


def text_field(page: OuterRow, name: str) -> ColumnElement[Any]:
    return page.c.metadata.op("->>", return_type=Text())(literal_column(f"'{name}'"))


def words(*texts: str) -> ColumnElement[Any]:
    return literal_column("ARRAY[" + ", ".join(f"'{text}'" for text in texts) + "]")


def sensitivity(page: OuterRow) -> ColumnElement[Any]:
    """Return the sensitivity of the page, by the rules of content.sensitivity."""
    level = func.lower(func.coalesce(text_field(page, "sensitivity"), literal_column("''")))
    return case(
        (level == literal_column("''"), literal_column(f"'{USUAL}'")),
        (level == any_(words(*LEVELS)), level),
        else_=literal_column(f"'{STRICTEST}'"),
    )


def stated_confidence(page: OuterRow) -> ColumnElement[Any]:
    level = func.lower(text_field(page, "confidence"))
    return case((level == any_(words("low", "medium", "high")), level))


def owner_role(page: OuterRow) -> ColumnElement[Any]:
    return func.nullif(text_field(page, "owner"), literal_column("''"))


def expires_at(page: OuterRow) -> ColumnElement[Any]:
    """Return the expiry time from `expires`, `expires_at` or `valid_until`. A date means its beginning in UTC."""
    day = func.coalesce(*(text_field(page, name) for name in ("expires", "expires_at", "valid_until")))
    moment = func.concat(day, case((func.length(day) == literal_column("10"), literal_column("' 00:00+00'"))))
    is_one = func.pg_input_is_valid(moment, literal_column("'timestamp with time zone'"))
    is_day = day.regexp_match(literal_column(r"'^\d{4}-\d{2}-\d{2}'", Text()))
    return case((and_(is_day, is_one), cast(moment, DateTime(timezone=True))))


def named_page_ids(page: OuterRow, field: str) -> tuple[Select[Any], Select[Any]]:
    """Return two selects of the ids of other pages that a field names as `slug`, `type/slug` or `[[slug]]`.

    The first finds pages by their slug, the second by former slugs, which include those of pages that were merged into
    them.
    """
    path: ColumnElement[Any] = literal_column(f"CAST('$.{field}[*] ? (@.type() == \"string\")' AS jsonpath)")
    value: Any = column("value", JSONB)
    item = func.jsonb_path_query(page.c.metadata, path).table_valued(value).render_derived()
    written = item.c.value.op("#>>", return_type=Text())(literal_column("'{}'", ARRAY(Text)))
    around: ColumnElement[str] = literal_column(r"'^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$'")
    slug = func.regexp_replace(written, around, literal_column("''"), literal_column("'g'"))
    type = func.substring(written, literal_column(r"'^(?:\[\[)?([a-z]+)/'"))
    name = select(slug.label("slug"), type.label("type")).select_from(item).subquery()
    now, former = pages.alias(), old_slugs.alias()

    def has_name(row: FromClause) -> tuple[ColumnElement[bool], ...]:
        is_of_type = func.coalesce(row.c.type == name.c.type, true())
        return row.c.owner_id == page.c.owner_id, row.c.slug == name.c.slug, is_of_type

    return (
        select(now.c.id).join(name, true()).where(*has_name(now), now.c.id != page.c.id),
        select(former.c.page_id).join(name, true()).where(*has_name(former), former.c.page_id != page.c.id),
    )


def contradicts(page: OuterRow) -> Select[Any]:
    other = pages.alias()
    return (
        select(other).where(id_among(other, *named_page_ids(page, "contradicts"))).order_by(other.c.title, other.c.id)
    )


def related_pages(page: OuterRow) -> Select[Any]:
    """Select the active pages to which the page has a reference that its text alone does not explain."""
    other, link = pages.alias(), links.alias()
    linked = select(link.c.to_page_id).where(
        link.c.from_page_id == page.c.id, link.c.kind == "reference", link.c.reasons != literal_column("ARRAY['text']")
    )
    return select(other).where(id_among(other, linked), other.c.status == "active").order_by(other.c.title, other.c.id)
