"""Fields that a page has in its metadata, as frontmatter says them: what cannot be read of them is as if not said."""

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

from content.sensitivity import LEVELS, MOST, USUAL
from selection.declare.mapping import OuterRow

from ..tables import links, old_slugs, pages
from .references import id_among


def text_field(page: OuterRow, name: str) -> ColumnElement[Any]:
    return page.c.metadata.op("->>", return_type=Text())(literal_column(f"'{name}'"))


def words(*texts: str) -> ColumnElement[Any]:
    return literal_column("ARRAY[" + ", ".join(f"'{text}'" for text in texts) + "]")


def sensitivity(page: OuterRow) -> ColumnElement[Any]:
    """Return the level of the page, as content.sensitivity reads it."""
    level = func.lower(func.coalesce(text_field(page, "sensitivity"), literal_column("''")))
    return case(
        (level == literal_column("''"), literal_column(f"'{USUAL}'")),
        (level == any_(words(*LEVELS)), level),
        else_=literal_column(f"'{MOST}'"),
    )


def stated_confidence(page: OuterRow) -> ColumnElement[Any]:
    level = func.lower(text_field(page, "confidence"))
    return case((level == any_(words("low", "medium", "high")), level))


def owner_role(page: OuterRow) -> ColumnElement[Any]:
    return func.nullif(text_field(page, "owner"), literal_column("''"))


def expires_at(page: OuterRow) -> ColumnElement[Any]:
    """Return the moment in any of the fields in which files say it; a day is its beginning, in UTC."""
    day = func.coalesce(*(text_field(page, name) for name in ("expires", "expires_at", "valid_until")))
    moment = func.concat(day, case((func.length(day) == literal_column("10"), literal_column("' 00:00+00'"))))
    is_one = func.pg_input_is_valid(moment, literal_column("'timestamp with time zone'"))
    is_day = day.regexp_match(literal_column(r"'^\d{4}-\d{2}-\d{2}'", Text()))
    return case((and_(is_day, is_one), cast(moment, DateTime(timezone=True))))


def named_page_ids(page: OuterRow, field: str) -> tuple[Select[Any], Select[Any]]:
    """Select the ids of the other pages that a field names as `slug`, `type/slug` or `[[slug]]`, and of those that once
    had such a slug: a page has those of pages that were merged into it."""
    path: ColumnElement[Any] = literal_column(f"CAST('$.{field}[*] ? (@.type() == \"string\")' AS jsonpath)")
    value: Any = column("value", JSONB)
    item = func.jsonb_path_query(page.c.metadata, path).table_valued(value).render_derived()
    written = item.c.value.op("#>>", return_type=Text())(literal_column("'{}'", ARRAY(Text)))
    around: ColumnElement[str] = literal_column(r"'^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$'")
    slug = func.regexp_replace(written, around, literal_column("''"), literal_column("'g'"))
    type = func.substring(written, literal_column(r"'^(?:\[\[)?([a-z]+)/'"))
    name = select(slug.label("slug"), type.label("type")).select_from(item).subquery()
    now, former = pages.alias(), old_slugs.alias()

    def meant(row: FromClause) -> tuple[ColumnElement[bool], ...]:
        is_of_type = func.coalesce(row.c.type == name.c.type, true())
        return row.c.owner_id == page.c.owner_id, row.c.slug == name.c.slug, is_of_type

    return (
        select(now.c.id).join(name, true()).where(*meant(now), now.c.id != page.c.id),
        select(former.c.page_id).join(name, true()).where(*meant(former), former.c.page_id != page.c.id),
    )


def contradicts(page: OuterRow) -> Select[Any]:
    other = pages.alias()
    return (
        select(other).where(id_among(other, *named_page_ids(page, "contradicts"))).order_by(other.c.title, other.c.id)
    )


def related_pages(page: OuterRow) -> Select[Any]:
    """Select the active pages that it has a reference to for another reason than its text."""
    other, link = pages.alias(), links.alias()
    said = select(link.c.to_page_id).where(
        link.c.from_page_id == page.c.id, link.c.kind == "reference", link.c.reasons != literal_column("ARRAY['text']")
    )
    return select(other).where(id_among(other, said), other.c.status == "active").order_by(other.c.title, other.c.id)
