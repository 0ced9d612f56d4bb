"""What became of a batch of evidence."""

from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput, CairnError
from resolvers.sources.retain import Retained, Retention
from selection import Step

from .fields import source
from .payloads import IDS, UserError, user_error
from .sources import WikiSource


async def kept_sources(
    context: Any, payload: Any, wanted: frozenset[str], limit: int | None = None
) -> list[tuple[Any, ...]]:
    """A batch is not larger than what a list shows at most."""
    return [(source_id,) for source_id in payload.source_ids]


@strawberry.type(description="What became of one piece of evidence.")
class WikiRetained:
    position: int = strawberry.field(description="Its place in sources, from 0.")
    ok: bool = strawberry.field(description="Is it kept?")
    created: bool = strawberry.field(description="False when this very evidence was here already.")
    source_id: strawberry.ID | None = strawberry.field(description="Under which id.")
    version: int | None = strawberry.field(description="As which version of its ref.")
    error: UserError | None = strawberry.field(description="Why it is not kept.")


@strawberry.type(description="A batch of evidence: each piece by itself.")
class WikiRetentionPayload:
    source_ids: strawberry.Private[Sequence[UUID]] = ()
    user_errors: list[UserError] = strawberry.field(
        default_factory=list, description="What went wrong with the whole, and with single pieces: [sources, position]."
    )
    items: list[WikiRetained] = strawberry.field(
        default_factory=list, description="One for each of sources, in their order."
    )
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None, description="The job that will read what is new; null when nothing is, or none was wanted."
    )
    sources: list[WikiSource] = source(
        relations.sources.by_ids,
        "Those that are kept, each once.",
        access=BY_ID,
        step=Step(kept_sources, IDS),
        limit=100,
    )


async def retention_payload(retaining: Awaitable[Retention]) -> WikiRetentionPayload:
    try:
        done = await retaining
    except BadInput as error:
        return WikiRetentionPayload(user_errors=[user_error(error)])
    items = [shown(item) for item in done.items]
    return WikiRetentionPayload(
        source_ids=list(dict.fromkeys(item.saved.source_id for item in done.items if item.saved)),
        user_errors=[item.error for item in items if item.error],
        items=items,
        compile_job_id=None if done.job_id is None else strawberry.ID(str(done.job_id)),
    )


def shown(item: Retained) -> WikiRetained:
    saved = item.saved
    return WikiRetained(
        position=item.position,
        ok=saved is not None,
        created=saved is not None and saved.created,
        source_id=None if saved is None else strawberry.ID(str(saved.source_id)),
        version=None if saved is None else saved.version,
        error=None if item.error is None else error_at(item.position, item.error),
    )


def error_at(position: int, error: CairnError) -> UserError:
    field = getattr(error, "field", None)
    path = ["sources", str(position), *(field.split(".") if field else [])]
    return UserError(message=error.message, code=error.code, field=path)
