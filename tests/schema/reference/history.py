"""Reference resolvers of the comparison of two revisions."""

from typing import Any
from uuid import UUID

from content.edits.differences import difference, unified_diff
from tests.schema.reference.pages import Revisions
from tests.schema.reference.rows import Row, Rows


class Histories:
    """Comparisons of revisions, computed from whole texts."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.revisions = rows, Revisions(rows)

    def compared(self, page_id: UUID | None, old: int, new: int) -> Row | None:
        page = self.rows.page(page_id)
        states = [self.rows.one("revisions", page_id=page_id, version=version) for version in (old, new)]
        if page is None or not self.rows.readable(page["owner_id"]) or not all(states):
            return None
        found = difference(*(self.revisions.body_md(state) for state in states if state))
        return {
            "from_revision": states[0],
            "to_revision": states[1],
            "unified": unified_diff(found, f"version {old}", f"version {new}"),
            "lines_removed": found.removed,
            "lines_added": found.added,
            "is_truncated": found.is_truncated,
            "hunks": [hunk(one) for one in found.hunks],
        }


def hunk(found: Any) -> Row:
    ranges = {name: getattr(found, name) for name in ("old_start", "old_count", "new_start", "new_count")}
    return ranges | {"lines": [line(one) for one in found.lines]}


def line(found: Any) -> Row:
    return {
        "kind": found.kind,
        "text": found.text,
        "old_line": found.old_line,
        "new_line": found.new_line,
        "is_ended": found.is_ended,
        "parts": [part._asdict() for part in found.parts],
    }
