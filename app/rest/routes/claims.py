"""The paths of contradictions between claims: they are listed and resolved."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import REASON
from db.database import Database
from resolvers.pages.claims.contradictions import Resolution, resolve_contradiction
from schema.enums import WikiContradictionStatus

from .. import responses
from ..endpoint import Call, WikiRoute
from ..models import Listed, PageName, RequestModel, ResponseModel, SourceKind
from ..operations import read, write
from ..parameters import BODY_STATUSES, Caller, Cursor, Limit, problem_responses, read_responses
from ..responses import Row, answer, answer_write

routes = APIRouter(route_class=WikiRoute, tags=["pages"])
Decided = Literal["keep_newer", "keep_older", "both_hold"]
Status = Annotated[WikiContradictionStatus | None, Query(description="Only entries with this status.")]


class ClaimSource(ResponseModel):
    """Source of a claim."""

    kind: SourceKind
    ref: str


class Contradiction(ResponseModel):
    """Two claims of a page that cannot both hold. `suggestion` is null if people have to decide."""

    id: UUID
    status: Literal["open", "resolved", "dismissed"]
    page: PageName
    older_claim: str
    older_on: datetime
    older_source: ClaimSource | None
    newer_claim: str
    newer_on: datetime
    newer_source: ClaimSource | None
    suggestion: Decided | None
    resolution: Decided | None
    reason: str | None
    resolved_at: datetime | None


class Contradictions(Listed):
    items: list[Contradiction]


class Decision(RequestModel):
    """Resolution of a contradiction and its reason. The claim that is not kept is superseded."""

    resolution: Annotated[Resolution, Field(strict=False)]
    reason: Annotated[str, Field(min_length=1, max_length=REASON.maximum)]


@routes.get(
    "/contradictions", operation_id="listContradictions", response_model=Contradictions, responses=read_responses()
)
async def list_contradictions(
    call: Caller, status: Status = None, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List the contradictions of the wiki, newest first."""
    variables: dict[str, Any] = {"status": status and status.value.upper(), "first": limit, "after": cursor}
    found = (await read(call, "contradictions", "RestContradictions", **variables))["found"]
    return await answer(call, responses.list_body(found, list(map(claim_row, found["nodes"]))))


@routes.post(
    "/contradictions/{id}/resolve",
    operation_id="resolveContradiction",
    response_model=Contradiction,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def resolve(call: Caller, id: UUID, body: Decision) -> Response:
    """Resolve a contradiction. The claim that is not kept is superseded and removed from the page."""

    async def work(database: Database) -> Any:
        await resolve_contradiction(database, call.wiki, id, body.resolution, body.reason)
        return await read_contradiction(call, database, id)

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


async def read_contradiction(call: Call, database: Database, id: UUID) -> Row:
    return claim_row((await read(call, "contradictions", "RestContradiction", database, id=str(id)))["found"])


def claim_row(row: Row) -> Row:
    """Return a contradiction with the values of its enums in lower case."""
    row |= {name: row[name] and row[name].lower() for name in ("status", "suggestion", "resolution")}
    sides = {name: row[name] and responses.lower_enums(row[name]) for name in ("older_source", "newer_source")}
    return row | sides | {"page": responses.lower_enums(row["page"])}
