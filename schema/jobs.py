"""The ledger of compiles."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations
from db.access import AS_ADMIN_OF_TENANT

from .enums import WikiJobStatus
from .fields import OlderOwner, OwnerName, column, source


@strawberry.type(description="One run of the compiler over one wiki.")
class WikiCompileJob:
    id: strawberry.ID = column("Of the job.")
    tenant_id: strawberry.ID = column("Of the wiki.")
    owner_id: strawberry.ID = column("Whose wiki it compiles.")
    user_id: strawberry.ID = column("The same as ownerId, under its older name.", name="owner_id")
    status: WikiJobStatus = column("Where it stands.")
    trigger: str = column("What asked for it.")
    dedupe_key: str = column("At most one open job has it.")
    attempt: int = column("How often it was started.")
    error: str | None = column("Why the last attempt failed.")
    metrics: JSON = column("What it did.")
    created_at: datetime = column("When it was asked for.")
    claimed_at: datetime | None = column("When a worker last took it: the same as startedAt.", name="started_at")
    started_at: datetime | None = column("When it was last started.")
    finished_at: datetime | None = column("When it ended.")


@strawberry.type
class JobQueries:
    @source(
        relations.jobs.listed,
        "The compile jobs of a wiki, newest first; of the whole tenant when no owner is named. For admins.",
        access=AS_ADMIN_OF_TENANT,
        owner=AS_ADMIN_OF_TENANT.named_owner,
        limit=10,
    )
    def wiki_compile_jobs(
        tenant_id: strawberry.ID,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiCompileJob]: ...
