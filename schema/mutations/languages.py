"""What a wiki is written in, for admins."""

from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.auth.languages import set_wiki_language
from resolvers.errors import BadInput

from ..fields import source
from ..owners import WikiOwner
from ..payloads import UserError, kept, user_error
from .scoping import InWiki, Request, scope_in


@strawberry.input(description="The language of a wiki.")
class SetWikiLanguageInput(InWiki):
    language: str = strawberry.field(
        description="Like german, de or de-AT: any that Postgres has a configuration for, and simple for none."
    )


@strawberry.type(description="A wiki after it was said what it is written in.")
class WikiLanguagePayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    changed: bool = strawberry.field(default=False, description="False when it was written in that before.")
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="The job that reads its pages again for search; its metrics count them as pages_reindexed.",
    )
    owner: WikiOwner | None = source(relations.owners.by_ids, "Whose wiki it is.", access=BY_ID, step=kept("owner_id"))


@strawberry.type
class LanguageMutations:
    @strawberry.mutation(
        description="Say what a wiki is written in, so that search takes its words by it; for admins. Pages that say "
        "their own language keep it."
    )
    async def set_wiki_language(self, info: Request, input: SetWikiLanguageInput) -> WikiLanguagePayload:
        scope = await scope_in(info, input)
        try:
            done = await set_wiki_language(info.context.database, scope, input.language)
        except BadInput as error:
            return WikiLanguagePayload(user_errors=[user_error(error)])
        return WikiLanguagePayload(
            owner_id=done.owner_id,
            changed=done.job_id is not None,
            compile_job_id=None if done.job_id is None else strawberry.ID(str(done.job_id)),
        )
