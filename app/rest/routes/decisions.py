"""The paths of decisions: questions are asked and listed, and decisions are recorded."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import REASON, SLUG, TITLE
from db.database import Database
from resolvers.model.lookup import locate_slug
from resolvers.pages.claims.decisions import (
    OPTIONS_MAX,
    PART_MAX,
    DecisionDraft,
    QuestionDraft,
    ask_decision,
    record_decision,
    withdraw_question,
)
from resolvers.proposals.gate import Significance
from schema.enums import WikiDecisionStatus

from .. import responses
from ..endpoint import WikiRoute
from ..models import Listed, PageName, RequestModel, ResponseModel
from ..operations import read, write
from ..parameters import BODY_STATUSES, Caller, Cursor, Limit, problem_responses, read_responses
from ..responses import answer, answer_write

routes = APIRouter(route_class=WikiRoute, tags=["pages"])
Part = Annotated[str, Field(min_length=1, max_length=PART_MAX)]
Options = Annotated[tuple[str, ...], Field(max_length=OPTIONS_MAX, strict=False)]
Weight = Annotated[Significance, Field(strict=False, description="Significance of the decision.")]
Status = Annotated[WikiDecisionStatus | None, Query(description="Only entries with this status.")]


class Question(ResponseModel):
    """Question: open, decided or withdrawn. A decision that was only logged has no page."""

    id: UUID
    question: str
    why: str
    options: list[str]
    significance: Literal["low", "medium", "high"]
    status: Literal["open", "decided", "withdrawn"]
    decision: str | None
    reason: Annotated[str | None, Field(description="Reason for the withdrawal.")]
    page: PageName | None
    author: str
    created_at: datetime
    decided_at: datetime | None


class Questions(Listed):
    items: list[Question]


class NewQuestion(RequestModel):
    """Question to ask, why it matters, and its options."""

    question: Annotated[str, Field(min_length=1, max_length=TITLE.maximum)]
    why: Part
    options: Options = ()
    significance: Weight = Significance.MEDIUM


class WithdrawQuestionRequest(RequestModel):
    """Reason for the withdrawal of a question."""

    reason: Annotated[str | None, Field(max_length=REASON.maximum)] = None


class NewDecision(RequestModel):
    """Decision to record, with a new question or for an open one."""

    decision: Part
    question: Annotated[str | None, Field(min_length=1, max_length=TITLE.maximum)] = None
    question_id: Annotated[UUID | None, Field(strict=False)] = None
    why: Part | None = None
    options: Options = ()
    consequences: Annotated[str, Field(max_length=PART_MAX)] = ""
    significance: Weight = Significance.MEDIUM
    supersedes: Annotated[
        str | None, Field(max_length=SLUG.maximum, description="The slug of the decision that this one replaces.")
    ] = None


class QuestionResult(ResponseModel):
    """Question after it was asked or withdrawn."""

    id: UUID


class DecisionResult(ResponseModel):
    """Recorded decision. Without a page it was only logged."""

    page_id: UUID | None
    version: int | None
    question_id: UUID | None


@routes.get("/decisions/questions", operation_id="listQuestions", response_model=Questions, responses=read_responses())
async def list_questions(call: Caller, status: Status = None, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List questions with their decisions, newest first."""
    variables: dict[str, Any] = {"status": status and status.value.upper(), "first": limit, "after": cursor}
    found = (await read(call, "decisions", "RestQuestions", **variables))["found"]
    return await answer(call, responses.list_body(found, list(map(responses.proposal_or_question, found["nodes"]))))


@routes.post(
    "/decisions/questions",
    operation_id="askDecision",
    status_code=201,
    response_model=QuestionResult,
    responses=problem_responses(*BODY_STATUSES),
)
async def ask(call: Caller, body: NewQuestion) -> Response:
    """Ask a question that waits for a decision."""
    draft = QuestionDraft(body.question, body.why, body.options, body.significance.value)

    async def work(database: Database) -> Any:
        return {"id": str(await ask_decision(database, call.wiki, draft))}

    written = await write(call, work)
    return await answer_write(call, written.body, 201, written.headers)


@routes.post(
    "/decisions/questions/{id}/withdraw",
    operation_id="withdrawQuestion",
    response_model=QuestionResult,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def withdraw(call: Caller, id: UUID, body: WithdrawQuestionRequest) -> Response:
    """Withdraw an open question."""

    async def work(database: Database) -> Any:
        await withdraw_question(database, call.wiki, id, body.reason)
        return {"id": str(id)}

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


@routes.post(
    "/decisions",
    operation_id="recordDecision",
    status_code=201,
    response_model=DecisionResult,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def record(call: Caller, body: NewDecision) -> Response:
    """Record a decision as an immutable page. Less significant decisions are only logged."""

    async def work(database: Database) -> Any:
        question = None
        if body.question is not None:
            question = QuestionDraft(body.question, body.why or "", body.options, body.significance.value)
        superseded_id = None
        if body.supersedes is not None:
            superseded_id = (await locate_slug(database, call.wiki, body.supersedes, "decision")).page_id
        draft = DecisionDraft(body.decision, body.consequences, question, body.question_id, superseded_id)
        done = await record_decision(database, call.wiki, draft)
        return {
            "page_id": done.page_id and str(done.page_id),
            "version": done.version,
            "question_id": done.question_id and str(done.question_id),
        }

    written = await write(call, work)
    return await answer_write(call, written.body, 201, written.headers)
