"""The results of a search of pages as rows: pages that were found (hits), and the result as a whole."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    Double,
    FromClause,
    Integer,
    Select,
    Text,
    Uuid,
    cast,
    func,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from selection import in_tenant, step_select
from selection.declare.mapping import OuterRow

from ..access import readable
from ..sql import texts
from ..tables import pages, sections
from .json_rows import json_row, json_rows
from .references import foreign_row

Columns = dict[str, TypeEngine[Any]]

SCORED: Columns = {"page_id": Uuid(), "score": Double()}
SHOWN: Columns = {**SCORED, "matched_alias": Text(), "section_id": Uuid(), "snippet": JSONB()}
HIT: Columns = {**SHOWN, "memories": JSONB()}
EDGE: Columns = {**SHOWN, "place": Integer(), "cursor": Text(), "explanation": JSONB()}
RESULTS: Columns = {
    "did_you_mean": Text(),
    "total_count": Integer(),
    "total_is_exact": Boolean(),
    "has_next_page": Boolean(),
    "has_previous_page": Boolean(),
    "start_cursor": Text(),
    "end_cursor": Text(),
    "lists": JSONB(),
}
"""The columns of a result from a step. `lists` is a JSON document of edges, types, tags and names without a page."""

page = foreign_row(pages, "page_id")

RANKING = texts("search/ranking")
hits_within = step_select(RANKING["rank_hits"]).columns(**HIT, ordinality=Integer())
"""The hits of a query of few words, as a select with which the main statement finds them (selection.InlineStep)."""
is_cache_valid = step_select(RANKING["is_so_counted"]).columns(holds=Boolean()).scalar_subquery()


# -- where reads start


def hits(found: FromClause) -> Select[Any]:
    """Select the hits in the order of the search.

    A hit without an owner is a page that was deleted after the search. The owner is a sub-select and not a join: the
    planner does not know the number of hits, and with a join it would read all pages of the wiki.
    """
    hit = select(*found.c, owner_of_page(found)).subquery()
    return select(hit).where(hit.c.owner_id.is_not(None)).order_by(hit.c.ordinality)


def results(found: FromClause) -> Select[Any]:
    return select(found)


def owner_of_page(hit: FromClause) -> ColumnElement[Any]:
    target = pages.alias()
    owner = select(target.c.owner_id).where(target.c.id == OuterRow(hit).c.page_id)
    return in_tenant(owner).scalar_subquery().label("owner_id")


# -- fields of a result


def edges(results: OuterRow) -> Select[Any]:
    """Select the edges whose page still exists and may be read. As in `hits`, this is not a join."""
    found = json_rows(results.c.lists["edges"], **EDGE)
    hit = select(*found.c, owner_of_page(found)).subquery()
    return select(hit).where(hit.c.owner_id.is_not(None), readable(hit.c.owner_id)).order_by(hit.c.place)


def nodes(results: OuterRow) -> Select[Any]:
    """Select the pages of the edges, which are looked up one by one for the same reason."""
    hit, target = json_rows(results.c.lists["edges"], **EDGE), pages.alias()
    found = in_tenant(select(target).where(target.c.id == OuterRow(hit).c.page_id))
    page = found.limit(1).lateral()
    return select(page).select_from(hit.join(page, true())).where(readable(page.c.owner_id)).order_by(hit.c.place)


def same_row(*names: str) -> Callable[[OuterRow], Select[Any]]:
    """Return a relation that selects these columns of the row as a row: an object nested in the object of the row."""

    def query(row: OuterRow) -> Select[Any]:
        columns = select(*(getattr(row.c, name).label(name) for name in names)).subquery()
        return select(columns)

    return query


page_info = same_row("has_next_page", "has_previous_page", "start_cursor", "end_cursor")
facets = same_row("lists")


def counts(name: str) -> Callable[[OuterRow], Select[Any]]:
    """Return a relation that selects the values of a facet with their numbers of pages, the most frequent first."""
    return lambda facets: select(json_rows(facets.c.lists[name], value=Text(), count=Integer()))


def held_names(results: OuterRow) -> Select[Any]:
    """Select the names in the query that have no page."""
    columns: Columns = {
        "name": Text(), "suggested_type": Text(), "mention_count": Integer(), "evidence": Double(), "missing": Text(),
    }  # fmt: skip
    return select(json_rows(results.c.lists["held"], **columns))


# -- fields of a hit


def section(hit: OuterRow) -> Select[Any]:
    found = sections.alias()
    return select(found).where(found.c.id == hit.c.section_id, found.c.page_id == hit.c.page_id)


def snippet(hit: OuterRow) -> Select[Any]:
    shown = json_row(hit.c.snippet, text=Text(), html=Text(), highlights=JSONB())
    return select(shown).where(hit.c.snippet.is_not(None))


def highlights(snippet: OuterRow) -> Select[Any]:
    return select(json_rows(snippet.c.highlights, start=Integer(), length=Integer()))


def explanation(hit: OuterRow) -> Select[Any]:
    shown = json_row(hit.c.explanation, parts=JSONB(), terms=JSONB())
    return select(shown).where(hit.c.explanation.is_not(None))


def score_parts(explanation: OuterRow) -> Select[Any]:
    return select(json_rows(explanation.c.parts, name=Text(), value=Double()))


def score_terms(explanation: OuterRow) -> Select[Any]:
    return select(json_rows(explanation.c.terms, word=Text(), lexeme=Text(), pages=Integer(), weight=Double()))


def matching_refs(hit: OuterRow) -> ColumnElement[Any]:
    """Return the refs of the hit's memories as an array. The row of the step has them as a JSON array."""
    refs = select(func.jsonb_array_elements_text(hit.c.memories["refs"]))
    return cast(func.array(refs.scalar_subquery()), ARRAY(Text))
