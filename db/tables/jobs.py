"""Tables of compile jobs, model usage, sweeps, lint and the activity log."""

from sqlalchemy import BigInteger, Column, Date, Double, Index, text

from .columns import document, identifier, number, one_of, refers, scoped_table, timestamp, words

compile_jobs = scoped_table(
    "compile_jobs",
    words("dedupe_key"),
    words("trigger"),
    *one_of("compile_jobs", "status", "pending", "running", "succeeded", "failed", "cancelled", default="pending"),
    number("attempt", default=0),
    timestamp("run_after"),
    words("claimed_by", nullable=True),
    timestamp("heartbeat_at", nullable=True),
    timestamp("started_at", nullable=True),
    timestamp("finished_at", nullable=True),
    words("error", nullable=True),
    document("metrics"),
    timestamp("created_at"),
    document("options"),
)
Index(
    "compile_jobs_open_uq", compile_jobs.c.tenant_id, compile_jobs.c.dedupe_key, unique=True,
    postgresql_where=text("status IN ('pending', 'running')"),
)  # fmt: skip
Index(
    "compile_jobs_running_uq", compile_jobs.c.tenant_id, compile_jobs.c.owner_id, unique=True,
    postgresql_where=text("status = 'running'"),
)  # fmt: skip
Index(
    "compile_jobs_created_ix",
    compile_jobs.c.tenant_id,
    compile_jobs.c.owner_id,
    compile_jobs.c.created_at.desc(),
    compile_jobs.c.id.desc(),
)

compile_cursors = scoped_table(
    "compile_cursors",
    timestamp("source_at", nullable=True),
    identifier("source_id", nullable=True),
    timestamp("updated_at"),
    key=("owner_id",),
)

activity = scoped_table(
    "activity",
    timestamp("at"),
    *one_of("activity", "actor_kind", "agent", "user", "compiler", "service"),
    words("actor_id"),
    words("action"),
    identifier("page_id", nullable=True),
    document("detail"),
)
Index("activity_at_ix", activity.c.tenant_id, activity.c.owner_id, activity.c.at.desc(), activity.c.id.desc())
Index("activity_page_ix", activity.c.tenant_id, activity.c.page_id, activity.c.id.desc())


model_usage = scoped_table(
    "model_usage",
    Column("day", Date, nullable=False, comment="in UTC"),
    words("model"),
    Column("requests", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", Double, nullable=False, comment="in US dollars, of requests whose price is known"),
    key=("day", "owner_id", "model"),
)


sweeps = scoped_table("sweeps", Column("swept_on", Date, nullable=False, comment="in UTC"), key=("owner_id",))

# The contents of a forgotten source, until a job has removed them from pages and history. Only that job reads them.
forgettings = scoped_table(
    "forgettings",
    identifier("source_id"),
    words("said"),
    timestamp("since"),
    refers("forgettings", "source_id", "sources"),
    key=("source_id",),
)

# Muted findings of lint: of a page, by its id, or of a name in lower case.
lint_mutes = scoped_table(
    "lint_mutes",
    words("check_name"),
    words("subject"),
    identifier("page_id", nullable=True),
    words("name", nullable=True),
    words("reason"),
    *one_of("lint_mutes", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("until", nullable=True),
    timestamp("created_at"),
    refers("lint_mutes", "page_id", "pages"),
    key=("owner_id", "check_name", "subject"),
)
Index("lint_mutes_page_ix", lint_mutes.c.tenant_id, lint_mutes.c.page_id)

lint_reports = scoped_table(
    "lint_reports",
    words("trigger"),
    number("found"),
    number("muted"),
    document("counts", default="[]"),
    timestamp("created_at"),
)
Index("lint_reports_owner_ix", lint_reports.c.tenant_id, lint_reports.c.owner_id, lint_reports.c.id.desc())
