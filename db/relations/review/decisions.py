"""Decision questions: open ones, and those that are decided."""

from typing import Any

from sqlalchemy import ColumnElement, Select, select

from selection.declare.mapping import OuterRow

from ...tables import decision_questions, pages
from ..access import owners
from ..references import foreign_row, rows_by_id

by_ids = rows_by_id(decision_questions)
page = foreign_row(pages, "page_id")


def listed(status: Any = None) -> Select[Any]:
    """Select the questions of a wiki, the newest first."""
    question = decision_questions.alias()
    query = select(question).order_by(question.c.id.desc())
    return query if status is None else query.where(question.c.status == status)


def author_name(question: OuterRow) -> ColumnElement[Any]:
    return owners.author_name(question.c.author_id)
