"""Mutations that rebuild pages from their sources, and that forget sources."""

from collections.abc import Awaitable
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput
from resolvers.sources import compile_requests, sources

from ..fields import source
from ..sources import WikiSource
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(description="Page to rebuild.")
class RebuildWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")


@strawberry.input(description="Wiki to rebuild.")
class RebuildWikiInput(InWiki):
    pass


@strawberry.input(description="Source to forget.")
class ForgetWikiSourceInput:
    source_id: strawberry.ID = strawberry.field(description="Id of the source. All of its versions are forgotten.")
    reason: str | None = strawberry.field(
        default=None, description="Reason. It is stored, so it must not repeat what is forgotten."
    )


@strawberry.type(description="Payload of a rebuild.")
class WikiRebuildPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    compile_job_id: strawberry.ID | None = strawberry.field(default=None, description="Id of the job.")


@strawberry.type(description="Payload of forgetting a source.")
class WikiForgettingPayload:
    source_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    versions: int = strawberry.field(default=0, description="Number of erased versions.")
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None,
        description=(
            "Id of the job that removes it from pages, history and search. Null if nothing remains to be removed."
        ),
    )
    source: WikiSource | None = source(
        relations.sources.by_ids, "Remaining record of the source.", access=BY_ID, step=private_id("source_id")
    )


async def rebuild_payload(asking: Awaitable[UUID]) -> WikiRebuildPayload:
    try:
        job_id = await asking
    except BadInput as error:
        return WikiRebuildPayload(user_errors=[user_error(error)])
    return WikiRebuildPayload(compile_job_id=strawberry.ID(str(job_id)))


@strawberry.type
class UpkeepMutations:
    @strawberry.mutation(
        description="Queue a job that rewrites the sections of a page that cite sources, from these sources alone."
    )
    async def rebuild_wiki_page(self, info: Request, input: RebuildWikiPageInput) -> WikiRebuildPayload:
        context = info.context
        return await rebuild_payload(
            compile_requests.rebuild_page(context.database, context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(
        description=(
            "Queue a job that rewrites all sections with citations, on all active pages of a wiki. For admins."
        )
    )
    async def rebuild_wiki(self, info: Request, input: RebuildWikiInput) -> WikiRebuildPayload:
        return await rebuild_payload(compile_requests.rebuild_wiki(info.context.database, await scope_in(info, input)))

    @strawberry.mutation(
        description=(
            "Forget a source: erase it, and queue a job that erases everything written from it. For admins of the wiki."
        )
    )
    async def forget_wiki_source(self, info: Request, input: ForgetWikiSourceInput) -> WikiForgettingPayload:
        context = info.context
        try:
            done = await sources.forget_source(context.database, context.scope, id_of(input.source_id), input.reason)
        except BadInput as error:
            return WikiForgettingPayload(user_errors=[user_error(error)])
        return WikiForgettingPayload(
            source_id=done.source_id,
            versions=done.versions,
            compile_job_id=None if done.job_id is None else strawberry.ID(str(done.job_id)),
        )
