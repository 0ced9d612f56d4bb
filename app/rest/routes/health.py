"""Readiness over REST: can this be used now?"""

from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ...http.health import NotReady, Readiness
from ..models import ResponseModel
from ..parameters import problems
from ..problems import problem


class Health(ResponseModel):
    status: Literal["ok"]


routes = APIRouter(tags=["health"])


@routes.get("/health", operation_id="getHealth", response_model=Health, responses={503: problems()[503]})
async def health(request: Request) -> Response:
    """Asks the database; needs no credential."""
    readiness: Readiness = request.app.state.readiness
    try:
        await readiness.check()
    except NotReady as lacking:
        return problem(503, "UNAVAILABLE", lacking.detail, reason=lacking.reason)
    return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})
