"""Requests of admins to the compiler.

They take single arguments instead of an input object, because there are clients that use them already.
"""

from datetime import UTC, datetime
from typing import Any

import strawberry

from db import relations
from db.access import AS_ADMIN
from db.scope import Scope
from resolvers.errors import BadInput
from resolvers.jobs import queue
from resolvers.sources import compile_requests
from selection import Step

from ..fields import OlderOwner, OwnerName, source
from ..jobs import WikiCompileJob
from .payloads import IDS, UserError, user_error
from .scoping import Request

NO_IDEA = "No idea of this account waits to be compiled: retain some first, with its accountId in their metadata."


async def scope_of(context: Any, tenant_id: str | None, **where: str | None) -> Scope:
    """Return the scope of the requested wiki. The caller's permission is checked when the transaction opens."""
    AS_ADMIN.check(context.scope, tenant_id, **where)
    scope: Scope = await context.scope_in(where)
    return scope


async def ask_for_compile(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    tenant_id: str | None = None,
    model_id: str | None = None,
    propose: bool = False,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    scope = await scope_of(context, tenant_id, **where)
    options: dict[str, Any] = {} if model_id is None else {"modelId": model_id[:200]}
    if propose:
        options["propose"] = True
    return [(await queue.ask_for_compile(context.database, scope, options=options),)]


@strawberry.type(description="Payload of a reset of the compiler's progress.")
class WikiCursorReset:
    tenant_id: strawberry.ID = strawberry.field(description="Id of the tenant of the wiki.")
    owner_id: strawberry.ID = strawberry.field(description="Id of the owner of the wiki.")
    user_id: strawberry.ID = strawberry.field(description="Former name of ownerId.")
    cursor_cleared: bool = strawberry.field(description="Whether there was progress to reset.")
    pages_archived: int = strawberry.field(description="Number of archived pages, with force.")
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")


@strawberry.type(description="Payload of a bulk compile of a journal.")
class WikiJournalImport:
    account_id: strawberry.ID = strawberry.field(description="Id of the journal.")
    tenant_id: strawberry.ID = strawberry.field(description="Id of the tenant of the wiki.")
    user_id: strawberry.ID = strawberry.field(description="Id of the owner of the wiki.")
    agent_id: strawberry.ID = strawberry.field(description="Id of the owner of the wiki, the same as userId.")
    dispatched: bool = strawberry.field(description="Whether a job was queued.")
    dispatched_at: datetime | None = strawberry.field(description="Time at which the job was queued.")
    error: str | None = strawberry.field(description="Reason why no job was queued.")
    user_errors: list[UserError] = strawberry.field(
        default_factory=list, description="Errors in the input. Empty if there is only nothing to do."
    )


async def reset_cursor(context: Any, *, force: bool, dry_run: bool, **where: str | None) -> WikiCursorReset:
    scope = await scope_of(context, **where)
    done = await compile_requests.reset_cursor(context.database, scope, force=force, dry_run=dry_run)
    return WikiCursorReset(
        tenant_id=strawberry.ID(str(scope.tenant_id)),
        owner_id=strawberry.ID(str(scope.owner_id)),
        user_id=strawberry.ID(str(scope.owner_id)),
        cursor_cleared=done.cursor_cleared,
        pages_archived=done.pages_archived,
    )


async def import_journal(context: Any, account_id: str, limit: int | None, **where: str | None) -> WikiJournalImport:
    scope = await scope_of(context, **where)
    job_id, error, user_errors = None, NO_IDEA, []
    try:
        job_id = await compile_requests.import_journal(context.database, scope, account_id, limit)
    except BadInput as refused:
        error, user_errors = refused.message, [user_error(refused)]
    return WikiJournalImport(
        account_id=strawberry.ID(account_id),
        tenant_id=strawberry.ID(str(scope.tenant_id)),
        user_id=strawberry.ID(str(scope.owner_id)),
        agent_id=strawberry.ID(str(scope.owner_id)),
        dispatched=job_id is not None,
        dispatched_at=None if job_id is None else datetime.now(UTC),
        error=None if job_id else error,
        user_errors=user_errors,
    )


@strawberry.type
class CompilingMutations:
    @source(
        relations.jobs.by_ids,
        "Queue a compile job for a wiki. With `propose`, pages become proposals. For admins.",
        access=AS_ADMIN,
        step=Step(ask_for_compile, IDS),
    )
    def compile_wiki_now(
        tenant_id: strawberry.ID,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        model_id: str | None = None,
        propose: bool = False,
    ) -> WikiCompileJob | None: ...

    @strawberry.mutation(
        description=(
            "Reset the progress of the compiler, so that the next job starts from the first source. For admins."
        )
    )
    async def reset_wiki_cursor(
        self,
        info: Request,
        tenant_id: strawberry.ID,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        force: bool | None = False,
        dry_run: bool | None = False,
    ) -> WikiCursorReset:
        where = {"tenant_id": tenant_id, "owner": owner, "owner_id": owner_id, "user_id": user_id}
        return await reset_cursor(info.context, force=bool(force), dry_run=bool(dry_run), **where)

    @strawberry.mutation(
        description="Compile the ideas of a journal in bulk, up to the last one or up to `limit`. For admins."
    )
    async def bootstrap_journal_import(
        self,
        info: Request,
        account_id: strawberry.ID,
        tenant_id: strawberry.ID,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        limit: int | None = None,
    ) -> WikiJournalImport:
        where = {"tenant_id": tenant_id, "owner": owner, "owner_id": owner_id, "user_id": user_id, "agent_id": agent_id}
        return await import_journal(info.context, account_id, limit, **where)
