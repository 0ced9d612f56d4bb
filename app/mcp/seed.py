"""Loads the seed directory, whose files become knowledge entries if their topics have none yet."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from content.knowledge import Seed, read_seed
from content.limits import BODY
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import find_owner
from resolvers.errors import CairnError
from resolvers.knowledge.knowledge import seed_knowledge
from resolvers.tenants.tenants import find_tenant

from ..settings import Settings

log = structlog.get_logger()
FILES_MAX = 10_000
ACTOR = Actor(ActorKind.SERVICE, "cairn seed")


class Seeded(NamedTuple):
    """The result of loading seeds: the topics of new entries, the number of existing entries, and the refused files.

    `refused` has pairs of a file name and a reason.
    """

    made: list[str]
    known: int
    refused: list[tuple[str, str]]


@asynccontextmanager
async def load_seed(database: Database, settings: Settings) -> AsyncIterator[None]:
    """Load the seed directory before the service starts. If it cannot be loaded, a warning is logged."""
    if settings.seed_dir is not None:
        try:
            scope = await seed_scope(database, str(settings.seed_tenant), str(settings.seed_owner))
            done = await load_seed_files(database, scope, settings.seed_dir)
            for file, reason in done.refused:
                log.warning("a knowledge seed was refused", file=file, reason=reason)
            log.info("knowledge seeds were loaded", made=len(done.made), known=done.known, refused=len(done.refused))
        except CairnError as error:
            log.warning("the seed directory was not loaded", code=error.code, reason=error.message)
    yield


async def seed_scope(database: Database, tenant: str, owner: str) -> Scope:
    found = await find_tenant(database, tenant)
    owner_id = (await find_owner(database, found.id, owner)).id
    return Scope(found.id, owner_id, Role.MEMBER, ACTOR, (owner_id,))


async def load_seed_files(database: Database, scope: Scope, folder: Path) -> Seeded:
    """Load the files of the folder, each independently of the others. A missing folder counts as empty."""
    done = Seeded([], 0, [])
    for path in await asyncio.to_thread(files_of, folder):
        try:
            if await seed_knowledge(database, scope, path.stem, await asyncio.to_thread(read, path)):
                done.made.append(path.stem)
            else:
                done = done._replace(known=done.known + 1)
        except (CairnError, OSError, UnicodeDecodeError) as error:
            reason = error.message if isinstance(error, CairnError) else f"it cannot be read: {error}"
            done.refused.append((path.name, reason))
    return done


def files_of(folder: Path) -> list[Path]:
    """Return the markdown files directly in a folder that are not hidden, by name."""
    found = sorted(path for path in folder.glob("[!.]*.md") if path.is_file()) if folder.is_dir() else []
    return found[:FILES_MAX]


def read(path: Path) -> Seed:
    """Read slightly more of a file than an entry may have, so that a file that is too long gets the usual error."""
    with path.open(encoding="utf-8") as file:
        return read_seed(file.read(BODY.maximum + 1_000))
