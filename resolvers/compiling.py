"""What an admin may ask of the compiler: to read now, to read anew, to read much at once."""

from dataclasses import dataclass
from uuid import UUID

from content.limits import UNSTORABLE
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .activity import record
from .errors import BadInput
from .hubness import refresh_all_hubness
from .jobs import enqueue
from .link_targets import resolve_all
from .permissions import Action
from .writing import writing

COMPILING = statements("compiling")
PAGES = statements("pages")
SEARCH = statements("search_index")
BULK_TRIGGER = "bootstrap_import"
BULK_MAX = 1_000
ACCOUNT_MAX = 200  # characters


@dataclass(frozen=True, slots=True)
class Reset:
    """`cursor_cleared` is false where there was none. In a dry run both say what would be done."""

    cursor_cleared: bool
    pages_archived: int


async def reset_cursor(database: Database, scope: Scope, *, force: bool = False, dry_run: bool = False) -> Reset:
    """Let the next compile begin with the first source; with `force` every page is put away until it is compiled."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        found = await writer.one(COMPILING["find_reset"])
        assert found is not None
        reset = Reset(found["has_cursor"], found["active_pages"] if force else 0)
        if dry_run:
            return reset
        await writer.run(COMPILING["drop_cursor"])
        if reset.pages_archived:
            await writer.run(PAGES["archive_all"])
            await writer.run(SEARCH["archive_pages"])
            await writer.run(SEARCH["archive_names"])
            await resolve_all(writer)
            await refresh_all_hubness(writer)
        if reset.cursor_cleared or reset.pages_archived:
            await record(writer, "wiki.archived" if reset.pages_archived else "wiki.reset", pages=reset.pages_archived)
        return reset


async def pass_by(database: Database, scope: Scope) -> None:
    """Let the next compile begin behind what is there: the pages that came with it say it already."""
    async with writing(database, scope) as writer:
        await writer.run(COMPILING["pass_by"])


async def import_journal(database: Database, scope: Scope, account_id: str, limit: int | None) -> UUID | None:
    """A bulk job that ends behind the last idea of a journal's account, or the last of `limit`; none where none waits.

    A wiki is compiled in the order in which it came, so what lies before that idea is compiled along.
    """
    if limit is not None and not 1 <= limit <= BULK_MAX:
        raise BadInput(f"The limit must lie between 1 and {BULK_MAX}.", "limit")
    if UNSTORABLE.search(account_id) or len(account_id) > ACCOUNT_MAX:
        raise BadInput(f"An accountId is a text of at most {ACCOUNT_MAX} characters, without NUL.", "accountId")
    async with writing(database, scope, Action.ADMINISTER) as writer:
        last = await writer.one(COMPILING["find_last_idea"], account_id=account_id, most=limit)
        if last is None:
            return None
        options = {
            "accountId": account_id,
            "until": [last["created_at"].isoformat(), str(last["id"])],
            **({} if limit is None else {"limit": limit}),
        }
        subject = f"journal:{account_id}"
        return await enqueue(writer, scope.tenant_id, scope.owner_id, BULK_TRIGGER, options=options, subject=subject)
