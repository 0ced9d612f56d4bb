"""Evidence: listing, reading and retaining it."""

from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Query
from starlette.responses import Response

from db.database import Database
from resolvers.errors import NotFound
from resolvers.sources import NO_SOURCE, SourceDraft, add_source
from schema.enums import WikiSourceKind

from ..large_bodies import read as made
from . import models, shapes
from .answers import answer, answer_write
from .asking import SENT, Caller, Cursor, Limit, problems, reading
from .door import Call, WikiRoute
from .pages import capitals
from .reading import read
from .writing import write

routes = APIRouter(route_class=WikiRoute, tags=["sources"])
Kinds = Annotated[list[WikiSourceKind] | None, Query(alias="kind", max_length=20, description="Of one of these kinds.")]
KNOWN: dict[int | str, dict[str, Any]] = {
    200: {"model": models.Source, "description": "This very evidence was here already."}
}


@routes.get("/sources", response_model=models.Sources, responses=reading())
async def list_sources(call: Caller, kinds: Kinds = None, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """The evidence of the wiki, the newest first."""
    found = (await read(call, "sources", "RestSources", kinds=capitals(kinds), first=limit, after=cursor))["found"]
    return await answer(call, shapes.listed(found, [shapes.named(source) for source in found["nodes"]]))


@routes.get("/sources/{id}", response_model=models.Source, responses=reading(404))
async def get_source(call: Caller, id: UUID) -> Response:
    """A source by its id."""
    return await answer(call, await source_now(call, call.door.database, id))


@routes.post("/sources", status_code=201, response_model=models.Source, responses={**KNOWN, **problems(*SENT)})
async def retain(call: Caller, given: models.NewSource) -> Response:
    """Retain a piece of evidence; the very same one twice is kept once."""
    draft = SourceDraft(
        kind=given.kind.value,
        ref=given.ref,
        content=given.content,
        title=given.title,
        captured_at=given.captured_at,
        metadata=given.metadata,
    )

    async def work(database: Database) -> Any:
        saved = await add_source(database, call.wiki, draft)
        return {"created": saved.created, "source": await source_now(call, database, saved.source_id)}

    written = await write(call, work)
    said = await made(len(written.body), lambda: orjson.loads(written.body))
    where = ("Location", f"{call.request.scope['root_path']}/sources/{said['source']['id']}")
    body, status = orjson.dumps(said["source"]), 201 if said["created"] else 200
    return await answer_write(call, body, status, [*written.headers, where])


async def source_now(call: Call, database: Database, id: UUID) -> dict[str, Any]:
    found = (await read(call, "sources", "RestSource", database, id=str(id)))["source"]
    if not found:
        raise NotFound(NO_SOURCE)
    return shapes.source(found)
