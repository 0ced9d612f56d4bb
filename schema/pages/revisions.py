"""Versions of pages, and the differences between them."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from strawberry.scalars import JSON

from content.edits.differences import DiffLine, Hunk
from db import relations
from db.access import BY_ID
from selection import Step
from selection.declare.arguments import identifier

from ..enums import WikiAuthorKind, WikiDiffLineKind
from ..fields import Node, column, expression, relation, source, whole
from .pages import WikiPage

if TYPE_CHECKING:
    from .proposals import WikiProposal


@strawberry.type(description="One saved state of a page; none is ever changed.")
class WikiRevision(Node):
    version: int = column("The version that it is the state of.")
    title: str = column("The title then.")
    summary: str | None = column("The summary then.")
    body_md: str = expression(relations.revisions.body, "The whole text then.")
    tags: list[str] = column("The tags then.")
    slug: str | None = expression(
        relations.revisions.slug, "The slug then; null in versions that were kept before it was."
    )
    aliases: list[str] | None = expression(
        relations.revisions.aliases, "The other names then, normalised; null like the slug."
    )
    metadata: JSON | None = expression(relations.revisions.metadata, "The metadata then; null like the slug.")
    edit_summary: str | None = column("What the author said of the change.")
    author_kind: WikiAuthorKind = column("Who wrote.")
    author_id: str = column("The author as the credential named it.")
    author_name: str = expression(
        relations.revisions.author_name,
        "The author's display name: of an owner or an API key the present one, else what the credential said.",
    )
    created_at: datetime = column("When.")
    erased_at: datetime | None = column("When its text was erased: with a forgotten source, or kept no longer.")
    page: WikiPage = relation(relations.revisions.page, "The page as it is now.")
    proposal: Annotated["WikiProposal", strawberry.lazy(".proposals")] | None = relation(
        relations.proposals.of_revision,
        "The proposal that was accepted as this version, with who accepted it; for those who may write in the wiki.",
    )


differences = relations.revisions


@strawberry.type(description="A stretch of a line that its counterpart does not have, in Unicode code points.")
class WikiDiffPart:
    start: int = column("Where it begins, from 0.")
    length: int = column("How long it is.")


@strawberry.type(description="A line of a text, without its end.")
class WikiDiffLine:
    kind: WikiDiffLineKind = column("Whether it stayed, went, or came.")
    text: str = column("What it says.")
    old_line: int | None = column("Its number in the older text, from 1; null when it came.")
    new_line: int | None = column("Its number in the newer text, from 1; null when it went.")
    is_ended: bool = column("False for a last line without a line end.")
    parts: list[WikiDiffPart] = whole(
        differences.parts, "The words that changed, where much of the line stayed; else none: then all of it changed."
    )


@strawberry.type(description="Changes that lie close together, with three lines around them.")
class WikiDiffHunk:
    old_start: int = column("The first of its lines in the older text, from 1; 0 where it has none there.")
    old_count: int = column("How many lines of the older text it shows.")
    new_start: int = column("The first of its lines in the newer text, from 1; 0 where it has none there.")
    new_count: int = column("How many lines of the newer text it shows.")
    lines: list[WikiDiffLine] = whole(differences.lines, "Its lines: what went stands before what came.")


@strawberry.type(description="How the text of a page changed from one version to another.")
class WikiRevisionDiff:
    from_revision: WikiRevision = relation(differences.from_revision, "The version that is compared from.")
    to_revision: WikiRevision = relation(differences.to_revision, "The version that is compared to.")
    unified: str = column("The change as `diff -u` writes it; empty when the texts are the same.")
    lines_removed: int = column("How many lines went.")
    lines_added: int = column("How many lines came.")
    is_truncated: bool = column("Were hunks left out, because they have more than 5000 lines together?")
    hunks: list[WikiDiffHunk] = whole(differences.hunks, "The same as data.")


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
        "How the text of a page changed between two of its versions, in either order; null without one of them.",
        access=BY_ID,
        step=Step(compare, differences.COMPARED),
    )
    def diff_wiki_revisions(
        page_id: strawberry.ID,
        from_version: Annotated[int, strawberry.argument(name="from", description="The version to compare from.")],
        to_version: Annotated[int, strawberry.argument(name="to", description="The version to compare to.")],
    ) -> WikiRevisionDiff | None: ...
