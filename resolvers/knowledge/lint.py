"""Lint of a wiki: checks that report findings and never edit. A check without findings is reported as well."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from content.claims.correction_forms import RENAMED
from content.templates import REQUIRED
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import Statement, parse_statement, texts
from db.tables import PAGE_TYPES

from ..errors import BadInput
from ..permissions import Action, authorise
from ..transactions.transaction import read_connection
from ..transactions.writer import Writer

CHECKING = {
    **texts("review/lint"),
    **texts("review/lint_metadata"),
    "earned_names": texts("links/held_names")["earned_names"],
}
FINDINGS_MAX = 100
EDITED, IMPORTED = "cairn edit {page} OLD NEW", "cairn import FOLDER"


@dataclass(frozen=True, slots=True)
class Check:
    """A check of lint."""

    name: str
    severity: str
    """`error` for wrong content, `warning` for what misleads readers, `info` for untidiness."""
    about: str
    fix: str
    """A template of the command that fixes a finding."""


CHECKS = (
    Check("unfinished_forgetting", "error", "Forgotten sources that pages still quote, because no job has finished.",
          "cairn sources forget {title} --wait"),
    Check("broken_links", "warning", "Links to pages that do not exist.", "cairn create topic {target}"),
    Check("broken_relations", "warning", "Related, parent, superseded or contradicted pages that do not exist.",
          "cairn create topic {target}"),
    Check("unknown_spaces", "warning", "Links to a space that does not exist, or that you cannot read.",
          "cairn edit {page} {target} NEW"),
    Check("broken_space_links", "warning", "Links to pages that do not exist in another space.",
          "cairn edit {page} {target} NEW"),
    Check("private_links", "warning", "Links from a shared space to the wiki of a user or agent, which do not work.",
          "cairn edit {page} {target} NEW"),
    Check("expired", "warning", "Pages that have expired, by expires, expires_at or valid_until.",
          "cairn archive {page}"),
    Check("duplicate_aliases", "warning", "Names that several pages of a type have.",
          "cairn merge {page} {target}"),
    Check("missing_sources", "warning", "Pages with text that cite no source.",
          "cairn wiki append {page} TEXT --source KIND/REF"),
    Check("unknown_sources", "warning", "Citations of sources that do not exist in the wiki.", "cairn retain PATH"),
    Check("wrong_metadata", "warning", "Frontmatter with an invalid confidence, sensitivity, date or type.",
          IMPORTED),
    Check("unsaid_sensitivity", "warning", "Pages without a sensitivity, in wikis where others have one.", IMPORTED),
    Check("decision_shape", "warning", "Decisions without a text of what was decided.",
          "cairn append {page} TEXT --section decision"),
    Check("decision_options", "warning", "Decisions without the options that were considered.",
          "cairn append {page} TEXT --section options_considered"),
    Check("concept_reasons", "info", "Concepts without the reasons for them, or without how to apply them.",
          "cairn append {page} TEXT --section {target}"),
    Check("contradictions", "warning", "Open contradictions between two claims.",
          "cairn wiki resolve {words} REASON"),
    Check("contradicting_pages", "warning", "Pages that are marked as contradicting another page.",
          "cairn wiki supersede {target} FACT REPLACEMENT"),
    Check("contradiction_loops", "warning", "Pages that supersede or contradict each other in a circle.", IMPORTED),
    Check("renamed_pages", "warning", "Pages of one entity under two names, by a newer source.",
          "cairn merge {page} {target}"),
    Check("similar_names", "info", "Pages with similar names, which may be about the same thing.",
          "cairn merge {page} {target}"),
    Check("stray_places", "warning", "Pages whose category or folder does not match their type.",
          "cairn create {target} {title}"),
    Check("missing_metadata", "info", "Pages without a confidence or an owner that most pages of their type have.",
          IMPORTED),
    Check("missing_pages", "info", "Names that three pages link to, and that have no page.",
          "cairn create topic {title}"),
    Check("plain_names", "info", "Names that three pages mention without a link, and that have no page.",
          "cairn create entity {title}"),
    Check("unlinked_names", "info", "Titles that three pages mention without a link.",
          "cairn edit {target} {title} {link}"),
    Check("earned_names", "info", "Mentions that can be promoted to pages.",
          "cairn lint --sweep"),
    Check("orphans", "info", "Pages that no other page links to.", "cairn append TYPE/SLUG {link}"),
    Check("stale", "info", "Pages that have not changed for as long as the wiki allows, 90 days by default.",
          "cairn wiki rebuild {page}"),
    Check("oversize", "info", "Pages with more characters than the wiki allows, 20,000 by default.", EDITED),
    Check("missing_summaries", "info", "Pages without a summary.", "cairn wiki rebuild {page}"),
    Check("slug_drift", "info", "Pages whose slug does not match their title.",
          "cairn rename {page} --slug {target}"),
)  # fmt: skip
BY_NAME = {check.name: check for check in CHECKS}


@dataclass(frozen=True, slots=True)
class Mute:
    """The mute of a finding, with the reason. The finding is not counted `until` then, or forever."""

    reason: str
    author_kind: str
    author_id: str
    muted_at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a page or, if `page_id` is None, about a name without a page."""

    page_id: UUID | None
    type: str | None
    slug: str | None
    title: str
    detail: str | None
    fix: str
    """The command that fixes the finding. Words in capitals are arguments that a person has to fill in."""
    mute: Mute | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check. Muted findings are listed and counted separately."""

    check: Check
    total: int = 0
    """The number of all findings that are not muted."""
    findings: tuple[Finding, ...] = ()
    """The first of these findings."""
    muted_total: int = 0
    muted: tuple[Finding, ...] = field(default=())


async def lint(
    database: Database, scope: Scope, *, limit: int = 20, checks: Collection[str] | None = None
) -> list[Report]:
    """Run all checks, or the named ones, on the scope's wiki in one statement. Needs WRITE. Raises BadInput."""
    chosen = [check for check in CHECKS if checks is None or check.name in checks]
    if checks is not None and (unknown := set(checks) - BY_NAME.keys()):
        raise no_check(min(unknown))
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.WRITE)
        return await run_checks(Writer(connection, scope), chosen, max(1, min(limit, FINDINGS_MAX)))


async def run_checks(reader: Writer, checks: Collection[Check], limit: int) -> list[Report]:
    """Run checks and return their reports. Each check is an arm of one statement, which also reads the mutes."""
    if not checks:
        return []
    rows = await reader.all(
        statement_of(tuple(check.name for check in checks)),
        limit=limit,
        owners=reader.scope.owners,
        spans=reader.scope.spans_tenant,
        forms=list(RENAMED),
        types=list(PAGE_TYPES),
        required=[f"{type}/{slug}" for type, slugs in REQUIRED.items() for slug in slugs],
    )
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["name"], []).append(row)
    return [report(check, found.get(check.name, ())) for check in checks]


@lru_cache(maxsize=64)
def statement_of(names: tuple[str, ...]) -> Statement:
    """Return the statement that runs these checks. Findings are in the order in which an arm returns its rows."""
    numbered_arm = "SELECT CAST('{}' AS text) AS name, arm.*, row_number() OVER () AS place FROM (\n{}\n) AS arm"
    arms = "\nUNION ALL\n".join(numbered_arm.replace("{}", name, 1).replace("{}", CHECKING[name], 1) for name in names)
    return parse_statement(CHECKING["judge_findings"].replace("FROM findings AS f", f"FROM (\n{arms}\n) AS f"))


def report(check: Check, rows: Collection[Row]) -> Report:
    plain, muted = ([row for row in rows if (row["reason"] is not None) is is_muted] for is_muted in (False, True))
    return Report(
        check,
        plain[0]["total"] if plain else 0,
        tuple(finding(check, row) for row in plain),
        muted[0]["total"] if muted else 0,
        tuple(finding(check, row) for row in muted),
    )


def finding(check: Check, row: Row) -> Finding:
    mute = row["reason"] and Mute(*(row[name] for name in ("reason", "author_kind", "author_id", "muted_at", "until")))
    named = (row["id"], row["type"], row["slug"], row["title"], row["detail"])
    return Finding(*named, fix_of(check, row), mute or None)


def fix_of(check: Check, row: Mapping[str, object]) -> str:
    """Return the command that fixes a finding. Content of the wiki is quoted, because it may be pasted into a shell."""
    page, target = f"{row['type']}/{row['slug']}", str(row["target"] or "")
    words = {"page": page, "title": row["title"], "target": target, "link": f"[[{row['slug']}]]"}
    quoted = {name: shlex.quote(" ".join(str(text).split())) for name, text in words.items()}
    return check.fix.format(**quoted, words=shlex.join(target.split()))


def no_check(name: str) -> BadInput:
    return BadInput(f"There is no check `{name[:80]}`. Checks are {', '.join(BY_NAME)}.", "check")
