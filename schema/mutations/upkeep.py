"""Pages built again from their sources, and sources forgotten."""

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


@strawberry.input(description="A page that is to be built again.")
class RebuildWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")


@strawberry.input(description="A wiki that is to be built again.")
class RebuildWikiInput(InWiki):
    pass


@strawberry.input(description="A source that is to be forgotten.")
class ForgetWikiSourceInput:
    source_id: strawberry.ID = strawberry.field(description="The source; all its versions are meant.")
    reason: str | None = strawberry.field(
        default=None, description="Why. It is kept, so it should say nothing of what is forgotten."
    )


@strawberry.type(description="Pages that will be built again.")
class WikiRebuildPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was asked for.")
    compile_job_id: strawberry.ID | None = strawberry.field(default=None, description="The job that will do it.")


@strawberry.type(description="A source after it was forgotten.")
class WikiForgettingPayload:
    source_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    versions: int = strawberry.field(default=0, description="How many versions of it were erased by this.")
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None, description="The job that takes it out of pages, history and search; null when all is done."
    )
    source: WikiSource | None = source(
        relations.sources.by_ids, "What is left of it.", access=BY_ID, step=private_id("source_id")
    )


async def rebuild_payload(asking: Awaitable[UUID]) -> WikiRebuildPayload:
    try:
        job_id = await asking
    except BadInput as error:
        return WikiRebuildPayload(user_errors=[user_error(error)])
    return WikiRebuildPayload(compile_job_id=strawberry.ID(str(job_id)))


@strawberry.type
class UpkeepMutations:
    @strawberry.mutation(description="Write every section of a page anew that cites sources, from those alone.")
    async def rebuild_wiki_page(self, info: Request, input: RebuildWikiPageInput) -> WikiRebuildPayload:
        context = info.context
        return await rebuild_payload(
            compile_requests.rebuild_page(context.database, context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(description="The same for all active pages of a wiki, for admins.")
    async def rebuild_wiki(self, info: Request, input: RebuildWikiInput) -> WikiRebuildPayload:
        return await rebuild_payload(compile_requests.rebuild_wiki(info.context.database, await scope_in(info, input)))

    @strawberry.mutation(
        description="Erase a source, and by a job all that was written from it. For who may delete pages for good."
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
