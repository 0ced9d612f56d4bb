"""Lint of a wiki: what could be better. Nothing is edited: every check reports, also when it finds nothing."""

from dataclasses import dataclass
from uuid import UUID

from content.claims.correction_forms import RENAMED
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..permissions import Action, authorise
from ..transactions.transaction import read_connection
from ..transactions.writer import Writer

LINT = statements("lint")
FINDINGS_MAX = 100


@dataclass(frozen=True, slots=True)
class Check:
    """`severity`: an error is wrong, a warning misleads readers, info is untidy."""

    name: str
    severity: str
    about: str


CHECKS = (
    Check("unfinished_forgetting", "error", "Forgotten sources that are still quoted: no job has come to its end."),
    Check("broken_links", "warning", "Links to what nobody answers to."),
    Check("unknown_spaces", "warning", "Links into a space that the tenant does not have, or that you may not read."),
    Check("broken_space_links", "warning", "Links into another space to what nobody answers to there."),
    Check("private_links", "warning", "Links of a shared space into the wiki of a user or agent: they lead nowhere."),
    Check("expired", "warning", "Pages whose own date (expires, expires_at, valid_until) is past."),
    Check("duplicate_aliases", "warning", "Names to which several pages of a type answer."),
    Check("missing_sources", "warning", "Pages that say something and cite nothing."),
    Check("decision_shape", "warning", "Decisions that do not say what was decided."),
    Check("contradictions", "warning", "Claims that cannot both hold: cairn wiki resolve decides which does."),
    Check("renamed_pages", "warning", "Entities that are one under two names, as a newer source says."),
    Check("missing_pages", "info", "Names that three pages link to and none has."),
    Check("earned_names", "info", "Mentions that have earned a page: cairn lint --sweep makes it."),
    Check("orphans", "info", "Pages that no other leads to."),
    Check("stale", "info", "Pages that nobody has changed for 90 days."),
    Check("oversize", "info", "Pages of more than 20,000 characters."),
    Check("missing_summaries", "info", "Pages without a summary."),
    Check("slug_drift", "info", "Pages whose slug says something else than their title."),
)


OF_SPACES = ("unknown_spaces", "broken_space_links", "private_links")
"""Checks that depend on which other wikis the caller may read."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A page, by its id; or a name that has none."""

    page_id: UUID | None
    type: str | None
    slug: str | None
    title: str
    detail: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """`total` counts all that was found, `findings` are the first of them."""

    check: Check
    total: int
    findings: tuple[Finding, ...]


async def lint(database: Database, scope: Scope, *, most: int = 20) -> list[Report]:
    """Run every check on the scope's wiki, a statement each, for those who may write in it."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.WRITE)
        reader = Writer(connection, scope)
        return [await report(reader, check, max(1, min(most, FINDINGS_MAX))) for check in CHECKS]


async def report(reader: Writer, check: Check, most: int) -> Report:
    reading = {"owners": reader.scope.owners, "spans": reader.scope.spans_tenant}
    given = reading if check.name in OF_SPACES else {"forms": list(RENAMED)} if check.name == "renamed_pages" else {}
    rows = await reader.all(LINT[check.name], most=most, **given)
    found = (Finding(row["id"], row["type"], row["slug"], row["title"], row["detail"]) for row in rows)
    return Report(check, rows[0]["total"] if rows else 0, tuple(found))
