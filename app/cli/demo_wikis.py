"""The sample wikis of the demo, and what it prints when they are there."""

from importlib.resources import files
from shlex import quote
from urllib.parse import urlencode

from app.demo import load_sample
from app.graphiql.assets import missing
from app.server.serve import AddressTaken, bind
from db.database import Database
from db.scope import Role

from ..settings import Settings
from .output import as_json, tell
from .progress import progress
from .session import Wiki, find_wiki
from .token import token_for

HOME = ("harbour-coffee", "mara")
PORTS = 100


async def sample_loaded(database: Database) -> Wiki:
    """The wiki in which the demo begins."""
    await load_sample(database, tell, progress)
    return await find_wiki(database, *HOME)


def quiet(settings: Settings) -> Settings:
    """A person reads along: only what goes wrong is logged, unless the environment wants more."""
    calm = {"log_level": "warning", "log_format": "console"}
    return settings.model_copy(update={k: v for k, v in calm.items() if k not in settings.model_fields_set})


def usable_port(host: str, port: int) -> int:
    """The port, or the next one that is free."""
    for candidate in range(port, min(port + PORTS, 65_536)):
        try:
            bind(host, candidate).close()
        except AddressTaken:
            continue
        if candidate != port:
            tell(f"Port {port} is taken, so this is port {candidate}")
        return candidate
    raise AddressTaken(f"None of the ports {port} to {candidate} on {host} can be used. Choose another with --port.")


TTL = 30 * 86_400  # seconds
CDN = "  (GraphiQL's own files are not here: a browser loads them from a CDN until `make graphiql` has fetched them.)"
QUERIES = {
    "AustinWater": "What does Mara know about the water in Austin?",
    "AustinPage": "One page: what hangs below it, who links to it, the evidence it rests on",
    "MySpaces": "Who am I, which wikis may I read, which pages hold the most together?",
}
WELCOME = """\
Cairn is ready. Ctrl-C stops it and its Postgres.

  Tenant    {tenant}
  Owner     {owner}
  GraphQL   {url}/graphql
  GraphiQL  {url}/graphiql

Sign in: open one of the links below, which carry the token, or give it to {url}/graphiql when it asks.
It is valid for 30 days. Another one: cairn token --tenant {tenant} --owner {owner}

  Token     {token}"""
QUERY = """
# {title}
# {link}
{query}"""


def welcome(settings: Settings, wiki: Wiki, url: str) -> str:
    """A few dozen lines to copy from and links to open."""
    token = token_for(settings, wiki, Role.MEMBER, TTL)
    queries = {name: query_text(name).replace("TENANT", str(wiki.tenant.id)) for name in QUERIES}
    parts = [WELCOME.format(tenant=wiki.tenant.slug, owner=wiki.owner.slug, url=url, token=token)]
    if missing():
        parts.append(CDN)
    parts += [
        QUERY.format(title=QUERIES[name], link=link(url, token, query), query=query) for name, query in queries.items()
    ]
    parts.append(f"\n# The first of them from a terminal\n{curl(url, token, queries['AustinWater'])}")
    return "\n".join(parts)


def query_text(name: str) -> str:
    return (files("app.cli") / "queries" / f"{name}.graphql").read_text(encoding="utf-8").strip()


def link(url: str, token: str, query: str) -> str:
    """GraphiQL with the token and the query. Both stand behind `#`, which a browser sends to no server."""
    return f"{url}/graphiql#{urlencode({'token': token, 'query': query})}"


def curl(url: str, token: str, query: str) -> str:
    body = as_json({"query": " ".join(query.split())})
    return f"curl {url}/graphql -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d {quote(body)}"
