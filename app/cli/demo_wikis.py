"""The sample wikis of the demo, and the text that it prints once they are loaded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from ruamel.yaml import YAML

from content.notes.frontmatter import split
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from resolvers.auth.owners import Grant, Owner, OwnerKind, ensure_owner, grant
from resolvers.import_export.importing import import_path
from resolvers.import_export.results import ImportResult, Progress
from resolvers.sources.compile_requests import skip_stored_sources
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.tenants.tenants import ensure_tenant

from ..graphiql.assets import missing_assets
from ..server.serve import AddressTaken, bind
from ..settings import Settings
from .output import print_status, to_json
from .progress import progress
from .session import Wiki, find_wiki

SAMPLE = statements("operations/sample")
ACTOR = Actor(ActorKind.SERVICE, "cairn demo")


class SampleBroken(Exception):
    """A page of the sample was refused, which is a defect of the sample and not a mistake of the user."""


OpenProgress = Callable[[str], AbstractContextManager[Progress]]


async def load_sample(database: Database, announce: Callable[[str], None], open_progress: OpenProgress) -> None:
    """Load each tenant of the sample that is not completely loaded yet. A loaded tenant is never overwritten.

    `announce` is called with a message before each wiki is loaded; `open_progress` opens the progress bar of a wiki.
    """
    with as_file(files("app") / "sample") as folder:
        for tenant in read_yaml(folder / "sample.yaml")["tenants"]:
            await load_tenant(database, folder / tenant["slug"], tenant, announce, open_progress)


async def load_tenant(
    database: Database,
    folder: Path,
    described: Mapping[str, Any],
    announce: Callable[[str], None],
    open_progress: OpenProgress,
) -> None:
    """Load a tenant unless it is marked as loaded. The mark is set last, so that an interrupted load is repeated."""
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
            await grant_access(database, owners[owner["slug"]], owners[member["owner"]], Grant(member["role"]))
        announce(f"Loading the wiki of {owner['name']} (first run only)")
        with open_progress(owner["name"]) as report:
            await load_wiki(database, folder / owner["slug"], owners[owner["slug"]], report)
    async with database.transaction() as transaction:
        await transaction.run(SAMPLE["mark_loaded"], tenant_id=tenant.id)


async def grant_access(database: Database, owner: Owner, grantee: Owner, role: Grant) -> None:
    await grant(database, owner.tenant_id, owner_id=owner.id, grantee_id=grantee.id, role=role)


async def load_wiki(database: Database, folder: Path, owner: Owner, report: Progress) -> None:
    """Load a wiki: its sources first, because pages and mentions refer to them."""
    scope = Scope(owner.tenant_id, owner.id, Role.MEMBER, ACTOR, (owner.id,))
    sources = {}
    for draft in read_sources(folder / "sources"):
        sources[draft.ref] = (await add_source(database, scope, draft)).source_id
    raise_first_problem(await import_path(database, scope, folder / "pages", report=report))
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
    await skip_stored_sources(database, scope)


def raise_first_problem(result: ImportResult) -> None:
    for problem in result.errors:
        raise SampleBroken(f"{problem.path}: {problem.message}")


def read_sources(folder: Path) -> Iterator[SourceDraft]:
    for path in sorted(folder.glob("*.md")):
        values, content = split(path.read_text(encoding="utf-8"))
        captured_at = datetime.fromisoformat(values["captured_at"])
        yield SourceDraft(values["kind"], values["ref"], content, values["title"], captured_at, values.get("metadata"))


def read_yaml(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


HOME = ("harbour-coffee", "mara")
PORTS = 100


async def load_home_wiki(database: Database) -> Wiki:
    """Load the sample and return the wiki in which the demo begins."""
    await load_sample(database, print_status, progress)
    return await find_wiki(database, *HOME)


def with_quiet_logs(settings: Settings) -> Settings:
    """Return settings that log only warnings, in the format for a console, unless the environment sets them."""
    calm = {"log_level": "warning", "log_format": "console"}
    return settings.model_copy(update={k: v for k, v in calm.items() if k not in settings.model_fields_set})


def usable_port(host: str, port: int) -> int:
    """Return the port, or the next one that is free."""
    for candidate in range(port, min(port + PORTS, 65_536)):
        try:
            bind(host, candidate).close()
        except AddressTaken:
            continue
        if candidate != port:
            print_status(f"Port {port} is in use. Using port {candidate} instead.")
        return candidate
    raise AddressTaken(f"No port from {port} to {candidate} on {host} is available. Choose another one with --port.")


TTL = 30 * 86_400  # seconds
CDN = "  (A browser loads GraphiQL from a CDN. To serve its files from here, run: make graphiql)"
QUERIES = {
    "AustinWater": "What does Mara know about the water in Austin?",
    "AustinPage": "One page with its children, its backlinks and its sources",
    "MySpaces": "The caller, the wikis that it can read, and their most central pages",
}
WELCOME = """\
Cairn is ready. Ctrl-C stops it and its Postgres.

  Wiki      {url}/
  Tenant    {tenant}
  Owner     {owner}
  GraphQL   {url}/graphql
  GraphiQL  {url}/graphiql

A browser on this machine is signed in to the wiki and to GraphiQL. Elsewhere, sign in with the token, or open one of
the links below, which contain it. The token is valid for 30 days.
To make another one: cairn token --tenant {tenant} --owner {owner}

  Token     {token}"""
QUERY = """
# {title}
# {link}
{query}"""


def welcome(wiki: Wiki, url: str, token: str) -> str:
    """Return the welcome text: addresses, a token, sample queries with links to GraphiQL, and a curl command."""
    queries = {name: query_text(name).replace("TENANT", str(wiki.tenant.id)) for name in QUERIES}
    parts = [WELCOME.format(tenant=wiki.tenant.slug, owner=wiki.owner.slug, url=url, token=token)]
    if missing_assets():
        parts.append(CDN)
    parts += [
        QUERY.format(title=QUERIES[name], link=graphiql_link(url, token, query), query=query)
        for name, query in queries.items()
    ]
    parts.append(f"\n# The first query, from a terminal\n{curl_command(url, token, queries['AustinWater'])}")
    return "\n".join(parts)


def query_text(name: str) -> str:
    return (files("app.cli") / "queries" / f"{name}.graphql").read_text(encoding="utf-8").strip()


def graphiql_link(url: str, token: str, query: str) -> str:
    """Return a link to GraphiQL with the token and the query in the fragment, which browsers send to no server."""
    return f"{url}/graphiql#{urlencode({'token': token, 'query': query})}"


def curl_command(url: str, token: str, query: str) -> str:
    body = to_json({"query": " ".join(query.split())})
    return f"curl {url}/graphql -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d {quote(body)}"
