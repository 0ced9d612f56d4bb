"""Versions of pages, and the differences between them."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from strawberry.scalars import JSON

from content.edits.differences import DiffLine, Hunk
from db import relations
from db.access import BY_ID
from selection import Step
from selection.compile.parameters import identifier

from ..enums import WikiAuthorKind, WikiDiffLineKind
from ..fields import Node, column, expression, relation, source, whole
from .pages import WikiPage

if TYPE_CHECKING:
    from .proposals import WikiProposal


@strawberry.type(description="A version of a page. Versions are immutable.")
class WikiRevision(Node):
    version: int = column("Version number.")
    title: str = column("Title of this version.")
    summary: str | None = column("Summary of this version.")
    body_md: str = expression(relations.revisions.body, "Text of this version, in Markdown.")
    tags: list[str] = column("Tags of this version.")
    slug: str | None = expression(relations.revisions.slug, "Slug of this version. Null for old versions.")
    aliases: list[str] | None = expression(
        relations.revisions.aliases, "Aliases of this version, normalized. Null for old versions."
    )
    metadata: JSON | None = expression(relations.revisions.metadata, "Metadata of this version. Null for old versions.")
    edit_summary: str | None = column("Summary of the change by its author.")
    author_kind: WikiAuthorKind = column("Kind of author.")
    author_id: str = column("Id of the author, as the credential names it.")
    author_name: str = expression(
        relations.revisions.author_name,
        "Display name of the author: the present name of an owner or API key, or else the name in the credential.",
    )
    created_at: datetime = column("Time at which the version was created.")
    erased_at: datetime | None = column(
        "Time at which its text was erased, with a forgotten source or by the retention policy."
    )
    page: WikiPage = relation(relations.revisions.page, "Current state of the page.")
    proposal: Annotated["WikiProposal", strawberry.lazy(".proposals")] | None = relation(
        relations.proposals.of_revision,
        "Proposal that was accepted as this version. Requires write access.",
    )


differences = relations.revisions


@strawberry.type(description="A changed part of a line, in Unicode code points.")
class WikiDiffPart:
    start: int = column("Start, counted from 0.")
    length: int = column("Length.")


@strawberry.type(description="A line of a diff, without the line break.")
class WikiDiffLine:
    kind: WikiDiffLineKind = column("Kind of line: unchanged, removed or added.")
    text: str = column("Text.")
    old_line: int | None = column("Line number in the older text, counted from 1. Null if it was added.")
    new_line: int | None = column("Line number in the newer text, counted from 1. Null if it was removed.")
    is_ended: bool = column("False for a last line without a line break.")
    parts: list[WikiDiffPart] = whole(differences.parts, "Changed parts of the line. Empty if the whole line changed.")


@strawberry.type(description="A hunk: neighbouring changes with three lines of context.")
class WikiDiffHunk:
    old_start: int = column("First line in the older text, counted from 1, or 0 if there is none.")
    old_count: int = column("Number of lines of the older text.")
    new_start: int = column("First line in the newer text, counted from 1, or 0 if there is none.")
    new_count: int = column("Number of lines of the newer text.")
    lines: list[WikiDiffLine] = whole(differences.lines, "Lines of the hunk. Removed lines come before added ones.")


@strawberry.type(description="Changes between two versions of a page.")
class WikiRevisionDiff:
    from_revision: WikiRevision = relation(differences.from_revision, "Version to compare from.")
    to_revision: WikiRevision = relation(differences.to_revision, "Version to compare to.")
    unified: str = column("Changes as a unified diff. Empty if the texts are equal.")
    lines_removed: int = column("Number of removed lines.")
    lines_added: int = column("Number of added lines.")
    is_truncated: bool = column("Whether hunks were omitted, because they have more than 5000 lines in total.")
    hunks: list[WikiDiffHunk] = whole(differences.hunks, "Hunks of the diff.")


async def compare(
    context: Any, parent: Any, wanted: frozenset[str], page_id: str, from_version: int, to_version: int
) -> list[tuple[Any, ...]]:
    found = await context.compare(identifier(page_id), from_version, to_version)
    if found is None:
        return []
    change = found.difference
    lists = {"hunks": [hunk_document(hunk) for hunk in change.hunks] if "hunks" in wanted else []}
    counts = change.removed, change.added, change.is_truncated
    return [(identifier(page_id), found.old.version, found.new.version, found.unified, *counts, lists)]


def hunk_document(hunk: Hunk) -> dict[str, Any]:
    return {
        "old_start": hunk.old_start,
        "old_count": hunk.old_count,
        "new_start": hunk.new_start,
        "new_count": hunk.new_count,
        "lines": [line_document(line) for line in hunk.lines],
    }


def line_document(line: DiffLine) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "text": line.text,
        "old_line": line.old_line,
        "new_line": line.new_line,
        "is_ended": line.is_ended,
        "parts": [{"start": part.start, "length": part.length} for part in line.parts],
    }


@strawberry.type
class HistoryQueries:
    @source(
        differences.comparison_rows,
        "The changes between two versions of a page, in either order. Null if a version does not exist.",
        access=BY_ID,
        step=Step(compare, differences.COMPARED),
    )
    def diff_wiki_revisions(
        page_id: strawberry.ID,
        from_version: Annotated[int, strawberry.argument(name="from", description="The version to compare from.")],
        to_version: Annotated[int, strawberry.argument(name="to", description="The version to compare to.")],
    ) -> WikiRevisionDiff | None: ...
