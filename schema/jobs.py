"""Compile jobs of a wiki."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations
from db.access import AS_ADMIN_OF_TENANT

from .enums import WikiJobStatus
from .fields import OlderOwner, OwnerName, column, source


@strawberry.type(description="A compile job: one run of the compiler on one wiki.")
class WikiCompileJob:
    id: strawberry.ID = column("Id of the job.")
    tenant_id: strawberry.ID = column("Id of the tenant of the wiki.")
    owner_id: strawberry.ID = column("Id of the owner of the wiki.")
    user_id: strawberry.ID = column("Former name of ownerId.", name="owner_id")
    status: WikiJobStatus = column("Current status.")
    trigger: str = column("Trigger of the job.")
    dedupe_key: str = column("Deduplication key. At most one open job has it.")
    attempt: int = column("Number of attempts.")
    error: str | None = column("Error of the last attempt.")
    metrics: JSON = column("Metrics of the job.")
    created_at: datetime = column("Time of creation.")
    claimed_at: datetime | None = column(
        "Time at which a worker last claimed the job. The same as startedAt.", name="started_at"
    )
    started_at: datetime | None = column("Time at which the job last started.")
    finished_at: datetime | None = column("Time at which the job finished.")


@strawberry.type
class JobQueries:
    @source(
        relations.jobs.listed,
        "The compile jobs of a wiki, newest first. Without an owner, those of the whole tenant. For admins.",
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
