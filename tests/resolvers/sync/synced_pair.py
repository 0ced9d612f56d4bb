"""A folder and a wiki that are edited at random and synced. A mark in each text shows whether the text was lost."""

import re
from itertools import count
from pathlib import Path
from random import Random

from db.scope import Scope
from resolvers.errors import CairnError
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.renaming import rename_page
from resolvers.pages.revision_store import find_states
from resolvers.proposals.proposals import accept_proposal, decline_proposal
from resolvers.sync.folder import CONFLICTED
from resolvers.sync.planning import SyncResult
from resolvers.sync.syncing import sync_folder
from tests.wiki import Wiki

QUIET = 0.02
ROUNDS_MAX = 4  # a page that is edited during a conflict has another one with the file
MARK = re.compile(r"mark-\d+")
NAMES = ("A", "B", "x/C", "x/D", "y/A")
FOLDER = ("write", "section", "delete", "move")
PAGE = ("edit", "edit section", "new", "archive", "rename")


def marks_of(path: Path) -> tuple[str, ...]:
    """Return the marks in a file, without its header."""
    return tuple(MARK.findall(path.read_text().rpartition("---\n")[2]))


class SyncedPair:
    """A folder and a wiki that are synced. `random` chooses the operations."""

    def __init__(self, wiki: Wiki, root: Path, random: Random) -> None:
        self.wiki, self.root, self.random, self.marks = wiki, root, random, count(1)
        root.mkdir(exist_ok=True)

    def new_mark(self) -> str:
        return f"mark-{next(self.marks)}"

    async def run_operation(self, operation: str) -> None:
        if operation in FOLDER:
            self.edit_folder(operation)
        else:
            await self.edit_wiki(operation)

    def notes(self) -> list[Path]:
        found = (path for path in self.root.rglob("*.md") if ".cairn" not in path.parts)
        return sorted(path for path in found if not CONFLICTED.search(path.name))

    def edit_folder(self, operation: str) -> None:
        notes = self.notes()
        if operation == "write" or not notes:
            path = self.root / f"{self.random.choice(NAMES)}.md"
            path.parent.mkdir(exist_ok=True)
            if self.random.random() < 0.5:
                path.write_text(f"Written {self.new_mark()}.\n")
            else:  # many editors write another file first, then replace the note with it
                beside = path.with_name(f".{path.name}.tmp")
                beside.write_text(f"## One\n\nWritten {self.new_mark()}.\n\n## Two\n\nAlso {self.new_mark()}.\n")
                beside.replace(path)
            return
        path = self.random.choice(notes)
        match operation:
            case "section":
                path.write_text(f"{path.read_text()}\n## Added {self.new_mark()}\n\nMore.\n")
            case "delete":
                path.unlink()
            case "move":
                to = self.root / f"moved/{self.new_mark()}.md"
                to.parent.mkdir(exist_ok=True)
                path.rename(to)

    async def edit_wiki(self, operation: str) -> None:
        here, pages = (self.wiki.database, self.wiki.scope), await self.wiki.rows("pages")
        if operation == "new" or not pages:
            title = self.random.choice(("A", "B", "C", "E"))
            await create_page(*here, PageDraft("reference", title, body=f"There {self.new_mark()}."))
            return
        page = self.random.choice(pages)
        match operation:
            case "edit":
                await update_page(*here, page["id"], body=f"There {self.new_mark()}.")
            case "edit section":
                await update_page(*here, page["id"], body=f"{page['body_md']}\n\n## There {self.new_mark()}\n\nMore.")
            case "archive":
                restate = archive_page if page["status"] == "active" else unarchive_page
                await restate(*here, page["id"])
            case "rename":
                name = self.new_mark()
                await rename_page(*here, page["id"], title=f"Named {name}", slug=f"named-{name}")

    def marks_in_files(self) -> set[str]:
        """Return the marks in the texts of all files, including those that a sync has moved aside."""
        found = (path for path in self.root.rglob("*.md") if path.is_file())
        return {mark for path in found for mark in marks_of(path)}

    async def marks_in_history(self) -> set[str]:
        """Return the marks in all revisions of all pages."""
        marks = set[str]()
        async with self.wiki.database.connection() as connection:
            for page in await self.wiki.rows("pages"):
                states = await find_states(connection, self.wiki.scope, page["id"], range(1, page["version"] + 1))
                marks |= {mark for state in states for mark in MARK.findall(state.body)}
        return marks

    async def all_marks(self) -> set[str]:
        return self.marks_in_files() | await self.marks_in_history()

    async def sync(self) -> SyncResult:
        return await sync_folder(self.wiki.database, self.wiki.scope, self.root, quiet=QUIET)

    async def sync_to_the_end(self, seen: set[str]) -> None:
        """Sync until conflicts are resolved: then both sides are equal, and none of the marks in `seen` is lost."""
        for _ in range(ROUNDS_MAX):
            result = await self.sync()
            assert seen <= await self.all_marks()
            if (result.events, result.left, result.conflicts) == ([], [], []):
                break
            for path in sorted(self.root.rglob("*.md")):
                if CONFLICTED.search(path.name):
                    path.unlink()  # as a person does who keeps the file: the wiki's history has the other text
        else:
            raise AssertionError(f"this does not settle: {result}")
        pages = [page for page in await self.wiki.rows("pages") if page["status"] == "active"]
        file_marks, page_marks = map(marks_of, self.notes()), (tuple(MARK.findall(page["body_md"])) for page in pages)
        assert sorted(file_marks) == sorted(page_marks), "both sides say the same"

    async def run_random_operations(self, operations: int) -> None:
        for _ in range(operations):
            try:
                await self.run_operation(self.random.choice((*FOLDER, *PAGE)))
            except CairnError:
                continue  # the operation was refused, such as a title that has become too long


class ReviewedPair(SyncedPair):
    """A folder whose edits are reviewed, because it is synced with a scope other than that of the wiki's admin."""

    def __init__(self, wiki: Wiki, root: Path, random: Random, scope: Scope) -> None:
        super().__init__(wiki, root, random)
        self.scope = scope

    async def sync(self) -> SyncResult:
        return await sync_folder(self.wiki.database, self.scope, self.root, quiet=QUIET)

    async def all_marks(self) -> set[str]:
        """Return the marks in files, in the history and in all proposals."""
        proposed = await self.wiki.rows("proposals")
        marks = {mark for row in proposed for mark in MARK.findall(row["proposed_body"] or "")}
        return marks | await super().all_marks()

    async def decide_proposals(self, *, accepted: float = 0.7) -> None:
        """Accept or decline open proposals. Those that can no longer be accepted are declined."""
        here = self.wiki.database, self.wiki.scope
        for row in await self.wiki.rows("proposals", status="open"):
            if self.random.random() < accepted:
                try:
                    await accept_proposal(*here, row["id"])
                    continue
                except CairnError:
                    pass
            await decline_proposal(*here, row["id"], "Not so.")

    async def sync_to_the_end(self, seen: set[str]) -> None:
        """Sync and review until no proposal is open. Declined files are edited again, and conflict copies deleted."""
        for _ in range(20):
            result = await self.sync()
            assert seen <= await self.all_marks()
            if not (result.events or result.left or result.conflicts or result.proposed):
                break
            for name in result.conflicts:
                (self.root / name).unlink()
            for path, code, message in result.left:
                assert code in ("DECLINED", "CONFLICT"), message
                if code == "DECLINED" and (self.root / path).exists():
                    (self.root / path).write_text(
                        f"{(self.root / path).read_text()}\n## Anew {self.new_mark()}\n\nMore.\n"
                    )
            await self.decide_proposals(accepted=1)
        else:
            raise AssertionError(f"this does not settle: {result}")
        pages = [page for page in await self.wiki.rows("pages") if page["status"] == "active"]
        said, there = map(marks_of, self.notes()), (tuple(MARK.findall(page["body_md"])) for page in pages)
        assert sorted(said) == sorted(there), "both sides say the same"
