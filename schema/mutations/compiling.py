"""What admins ask of the compiler. These have their clients already: arguments stand by themselves, not in an input."""

from datetime import UTC, datetime
from typing import Any

import strawberry

from db import relations
from db.access import AS_ADMIN
from db.scope import Scope
from resolvers import compiling, jobs
from resolvers.errors import BadInput
from selection import Step
from selection.arguments import identifier

from ..fields import source
from ..jobs import WikiCompileJob
from ..payloads import IDS
from .scoping import Request


def scope_of(context: Any, tenant_id: str | None, *owners: str | None) -> Scope:
    """The wiki that is meant. Whether the caller may is decided where the transaction opens."""
    scope: Scope = context.scope
    spellings = ("owner_id", "user_id", "agent_id")
    AS_ADMIN.check(scope, tenant_id, **dict(zip(spellings, owners, strict=False)))
    owner = next((one for one in owners if one is not None), None)
    return scope if owner is None else scope.in_owner(identifier(owner))


async def ask_for_compile(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    tenant_id: str | None = None,
    owner_id: str | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    model_id: str | None = None,
) -> list[tuple[Any, ...]]:
    scope = scope_of(context, tenant_id, owner_id, user_id, agent_id)
    options = None if model_id is None else {"modelId": model_id[:200]}
    return [(await jobs.ask_for_compile(context.database, scope, options=options),)]


@strawberry.type(description="How far a wiki is compiled, after that was forgotten.")
class WikiCursorReset:
    tenant_id: strawberry.ID = strawberry.field(description="Of the wiki.")
    owner_id: strawberry.ID = strawberry.field(description="Whose wiki it is.")
    user_id: strawberry.ID = strawberry.field(description="The same.")
    cursor_cleared: bool = strawberry.field(description="False when there was none.")
    pages_archived: int = strawberry.field(description="How many pages were put away, with force.")


@strawberry.type(description="A journal whose ideas are compiled in bulk.")
class WikiJournalImport:
    account_id: strawberry.ID = strawberry.field(description="Of the journal.")
    tenant_id: strawberry.ID = strawberry.field(description="Of the wiki.")
    user_id: strawberry.ID = strawberry.field(description="Whose wiki it is.")
    agent_id: strawberry.ID = strawberry.field(description="The same.")
    dispatched: bool = strawberry.field(description="Was a job asked for?")
    dispatched_at: datetime | None = strawberry.field(description="When.")
    error: str | None = strawberry.field(description="Why not.")


@strawberry.type
class CompilingMutations:
    @source(
        relations.jobs.by_ids,
        "Compile a wiki now, for admins: the job that will.",
        access=AS_ADMIN,
        step=Step(ask_for_compile, IDS),
    )
    def compile_wiki_now(
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
        model_id: str | None = None,
    ) -> WikiCompileJob | None: ...

    @strawberry.mutation(description="Compile a wiki from its first source on, from the next job on; for admins.")
    async def reset_wiki_cursor(
        self,
        info: Request,
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> WikiCursorReset:
        scope = scope_of(info.context, tenant_id, owner_id, user_id)
        done = await compiling.reset_cursor(info.context.database, scope, force=force, dry_run=dry_run)
        return WikiCursorReset(
            tenant_id=strawberry.ID(str(scope.tenant_id)),
            owner_id=strawberry.ID(str(scope.owner_id)),
            user_id=strawberry.ID(str(scope.owner_id)),
            cursor_cleared=done.cursor_cleared,
            pages_archived=done.pages_archived,
        )

    @strawberry.mutation(description="Compile the ideas of a journal that were retained, in bulk; for admins.")
    async def bootstrap_journal_import(
        self,
        info: Request,
        account_id: strawberry.ID,
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
        limit: int | None = None,
    ) -> WikiJournalImport:
        scope = scope_of(info.context, tenant_id, owner_id, user_id, agent_id)
        job_id, error = None, "There are no ideas of a journal to compile: retain them first."
        try:
            job_id = await compiling.import_journal(info.context.database, scope, account_id, limit)
        except BadInput as refused:
            error = refused.message
        return WikiJournalImport(
            account_id=account_id,
            tenant_id=strawberry.ID(str(scope.tenant_id)),
            user_id=strawberry.ID(str(scope.owner_id)),
            agent_id=strawberry.ID(str(scope.owner_id)),
            dispatched=job_id is not None,
            dispatched_at=None if job_id is None else datetime.now(UTC),
            error=None if job_id else error,
        )
