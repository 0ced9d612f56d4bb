"""The sample wikis in app/sample, put into a database once: afterwards they belong to whoever uses them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from content.frontmatter import split
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from resolvers.auth.owners import Grant, Owner, OwnerKind, ensure_owner, grant
from resolvers.import_export.importing import ImportResult, Progress, import_path
from resolvers.sources.compile_requests import pass_by
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.tenants.tenants import ensure_tenant

SAMPLE = statements("sample")
ACTOR = Actor(ActorKind.SERVICE, "cairn demo")


class SampleBroken(Exception):
    """A page of the sample was refused: a fault of the sample, not of whoever runs it."""


Reporting = Callable[[str], AbstractContextManager[Progress]]


async def load_sample(database: Database, told: Callable[[str], None], reporting: Reporting) -> None:
    """Load every tenant of the sample that is not there as a whole. Nothing is written over once it is.

    `told` is called before each wiki is loaded, `reporting` opens the progress of one wiki.
    """
    with as_file(files("app") / "sample") as folder:
        for tenant in read_yaml(folder / "sample.yaml")["tenants"]:
            await load_tenant(database, folder / tenant["slug"], tenant, told, reporting)


async def load_tenant(
    database: Database, folder: Path, described: Mapping[str, Any], told: Callable[[str], None], reporting: Reporting
) -> None:
    """Marked at the end, so that a load that was broken off begins again."""
    tenant = await ensure_tenant(database, described["slug"], described["name"])
    async with database.connection() as connection:
        if await connection.value(SAMPLE["is_loaded"], tenant_id=tenant.id):
            return
    owners = {
        owner["slug"]: await ensure_owner(database, tenant.id, OwnerKind(owner["kind"]), owner["slug"], owner["name"])
        for owner in described["owners"]
    }
    for owner in described["owners"]:
        for member in owner.get("members", ()):
            await admit(database, owners[owner["slug"]], owners[member["owner"]], Grant(member["role"]))
        told(f"Loading the wiki of {owner['name']} (once)")
        with reporting(owner["name"]) as report:
            await load_wiki(database, folder / owner["slug"], owners[owner["slug"]], report)
    async with database.transaction() as transaction:
        await transaction.run(SAMPLE["mark_loaded"], tenant_id=tenant.id)


async def admit(database: Database, owner: Owner, grantee: Owner, role: Grant) -> None:
    await grant(database, owner.tenant_id, owner_id=owner.id, grantee_id=grantee.id, role=role)


async def load_wiki(database: Database, folder: Path, owner: Owner, report: Progress) -> None:
    """Sources first, because pages cite them and mentions are seen in them."""
    scope = Scope(owner.tenant_id, owner.id, Role.MEMBER, ACTOR, (owner.id,))
    sources = {}
    for draft in read_sources(folder / "sources"):
        sources[draft.ref] = (await add_source(database, scope, draft)).source_id
    check(await import_path(database, scope, folder / "pages", report=report))
    for mention in read_yaml(folder / "mentions.yaml"):
        for sighting in mention["sightings"]:
            await record_mention(
                database,
                scope,
                name=mention["name"],
                source_id=sources[sighting["ref"]],
                quote=sighting["quote"],
                suggested_type=mention["suggested_type"],
            )
    await pass_by(database, scope)


def check(result: ImportResult) -> None:
    for problem in result.errors:
        raise SampleBroken(f"{problem.path}: {problem.message}")


def read_sources(folder: Path) -> Iterator[SourceDraft]:
    for path in sorted(folder.glob("*.md")):
        values, content = split(path.read_text(encoding="utf-8"))
        captured_at = datetime.fromisoformat(values["captured_at"])
        yield SourceDraft(values["kind"], values["ref"], content, values["title"], captured_at, values.get("metadata"))


def read_yaml(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
