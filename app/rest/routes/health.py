"""The path that reports whether the service is ready."""

from typing import Any, Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ...http.health import NotReady, Readiness
from ..endpoint import check_parameters
from ..models import ResponseModel
from ..parameters import problem_responses
from ..problems import UnknownParameter, problem, problem_of


class Health(ResponseModel):
    status: Literal["ok"]


routes = APIRouter(tags=["health"])
ANSWERS: dict[int | str, dict[str, Any]] = {status: problem_responses()[status] for status in (422, 503)}


@routes.get("/health", operation_id="getHealth", response_model=Health, responses=ANSWERS)
async def health(request: Request) -> Response:
    """Check whether the service and its database are available. No credential is needed."""
    try:
        check_parameters(request, ())
    except UnknownParameter as unknown:
        return problem_of(unknown)
    readiness: Readiness = request.app.state.readiness
    try:
        await readiness.check()
    except NotReady as error:
        return problem(503, "UNAVAILABLE", error.detail, reason=error.reason)
    return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})
