"""The paths of lint: findings, mutes of findings, and reports of runs."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import REASON, SLUG, TITLE
from db.database import Database
from resolvers.knowledge.lint_reports import mute_finding, report_lint, unmute_finding
from resolvers.model.lookup import locate_slug
from schema.enums import WikiPageType

from ...moments import Moment
from .. import responses
from ..endpoint import Call, WikiRoute
from ..models import Listed, RequestModel, ResponseModel
from ..operations import read, write
from ..parameters import BODY_STATUSES, Caller, Cursor, Limit, problem_responses, read_responses
from ..responses import Row, answer, answer_write

routes = APIRouter(route_class=WikiRoute, tags=["lint"])
CheckName = Annotated[str, Field(min_length=1, max_length=100, description="Name of the check.")]
REQUEST = "request"


class LintMute(ResponseModel):
    """Mute of a finding and its reason."""

    reason: str
    by: str
    at: datetime
    until: datetime | None


class LintFinding(ResponseModel):
    """Finding: a page, or a name without a page. `fix` is the command that fixes it."""

    title: str
    type: WikiPageType | None
    slug: str | None
    detail: str | None
    fix: str
    mute: LintMute | None


class LintCheck(ResponseModel):
    """Check with its findings. `total` counts those that are not muted."""

    name: str
    severity: Literal["error", "warning", "info"]
    about: str
    total: int
    muted_total: int
    findings: list[LintFinding]
    muted: list[LintFinding]


class Lint(ResponseModel):
    """The checks of lint, including those without findings."""

    checks: list[LintCheck]


class LintCount(ResponseModel):
    """Number of findings of a check in one run."""

    name: str
    total: int
    muted: int


class LintReport(ResponseModel):
    """A report of a run of lint."""

    id: UUID
    trigger: str
    found: int
    muted: int
    counts: list[LintCount]
    created_at: datetime


class LintReports(Listed):
    items: list[LintReport]


class LintSubject(RequestModel):
    """Check, and the page or the name without a page of the finding."""

    check: CheckName
    slug: Annotated[str | None, Field(max_length=SLUG.maximum, description="The page.")] = None
    type: Annotated[
        WikiPageType | None,
        Field(strict=False, description="Type of the page. Required if pages of several types share the slug."),
    ] = None
    name: Annotated[str | None, Field(max_length=TITLE.maximum, description="Name without a page.")] = None


class NewLintMute(LintSubject):
    """Finding to mute. A second mute replaces the first."""

    reason: Annotated[
        str, Field(min_length=1, max_length=REASON.maximum, description="Reason why the finding is not a problem.")
    ]
    until: Annotated[Moment | None, Field(description="Time until which the finding is muted. Null for forever.")] = (
        None
    )


class LintChange(ResponseModel):
    """Result of muting or unmuting: `changed` is false if nothing was changed."""

    changed: bool


@routes.get("/lint", operation_id="lint", response_model=Lint, responses=read_responses())
async def lint(
    call: Caller,
    checks: Annotated[
        list[str] | None, Query(alias="check", max_length=50, description="Name of a check to run. Defaults to all.")
    ] = None,
    limit: Limit = 20,
) -> Response:
    """Check the wiki for problems. Nothing is edited. Requires write access."""
    found = (await read(call, "lint", "RestLint", names=checks, limit=limit))["found"]
    return await answer(call, {"checks": list(map(check_to_dict, found))})


@routes.get("/lint/reports", operation_id="listLintReports", response_model=LintReports, responses=read_responses())
async def list_reports(call: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the reports of earlier runs of lint, newest first."""
    found = (await read(call, "lint", "RestLintReports", first=limit, after=cursor))["found"]
    return await answer(call, responses.list_body(found, found["nodes"]))


@routes.post(
    "/lint/reports",
    operation_id="reportLint",
    status_code=201,
    response_model=LintReport,
    responses=problem_responses(*BODY_STATUSES),
)
async def report(call: Caller) -> Response:
    """Run all checks and store a report with the number of findings. No page is edited."""

    async def work(database: Database) -> Any:
        _, report_id = await report_lint(database, call.wiki, REQUEST, limit=1)
        return (await read(call, "lint", "RestLintReport", database, id=str(report_id)))["found"]

    written = await write(call, work)
    return await answer_write(call, written.body, 201, written.headers)


@routes.post(
    "/lint/mute",
    operation_id="muteLintFinding",
    response_model=LintChange,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def mute(call: Caller, body: NewLintMute) -> Response:
    """Mute a finding of a check for a page or a name. Muted findings are counted separately."""

    async def work(database: Database) -> Any:
        page_id = await page_of(call, database, body)
        options: dict[str, Any] = {"page_id": page_id, "name": body.name, "until": body.until}
        return {"changed": await mute_finding(database, call.wiki, body.check, reason=body.reason, **options)}

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


@routes.post(
    "/lint/unmute",
    operation_id="unmuteLintFinding",
    response_model=LintChange,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def unmute(call: Caller, body: LintSubject) -> Response:
    """Unmute a finding of a check for a page or a name."""

    async def work(database: Database) -> Any:
        page_id = await page_of(call, database, body)
        return {"changed": await unmute_finding(database, call.wiki, body.check, page_id=page_id, name=body.name)}

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


async def page_of(call: Call, database: Database, body: LintSubject) -> UUID | None:
    """Return the id of the page of a finding, or None for a name without a page. Raises NotFound."""
    if body.slug is None:
        return None
    type = None if body.type is None else body.type.value
    return (await locate_slug(database, call.wiki, body.slug, type)).page_id


def check_to_dict(row: Row) -> Row:
    lists = {name: list(map(finding_to_dict, row[name])) for name in ("findings", "muted")}
    return row | {"severity": row["severity"].lower()} | lists


def finding_to_dict(row: Row) -> Row:
    reason, by, at, until = (row.pop(name) for name in ("mute_reason", "muted_by", "muted_at", "muted_until"))
    mute = None if reason is None else {"reason": reason, "by": by, "at": at, "until": until}
    return row | {"type": row["type"] and row["type"].lower(), "mute": mute}
