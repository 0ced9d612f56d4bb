"""The ledger of compiles."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations
from db.access import AS_ADMIN

from .enums import WikiJobStatus
from .fields import column, source


@strawberry.type(description="One run of the compiler over one wiki.")
class WikiCompileJob:
    id: strawberry.ID = column("Of the job.")
    tenant_id: strawberry.ID = column("Of the wiki.")
    owner_id: strawberry.ID = column("Whose wiki it compiles.")
    status: WikiJobStatus = column("Where it stands.")
    trigger: str = column("What asked for it.")
    dedupe_key: str = column("At most one open job has it.")
    attempt: int = column("How often it was started.")
    error: str | None = column("Why the last attempt failed.")
    metrics: JSON = column("What it did.")
    created_at: datetime = column("When it was asked for.")
    started_at: datetime | None = column("When it was last started.")
    finished_at: datetime | None = column("When it ended.")


@strawberry.type
class JobQueries:
    @source(relations.jobs.listed, "The compile jobs of a wiki, newest first; for admins.", access=AS_ADMIN, limit=10)
    def wiki_compile_jobs(
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[WikiCompileJob]: ...
