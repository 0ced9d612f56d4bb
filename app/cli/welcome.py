"""The text that `cairn demo` prints when it is ready: where to go, how to sign in, and what to ask."""

from importlib.resources import files
from shlex import quote
from urllib.parse import urlencode

from app.graphiql.assets import missing
from app.settings import Settings
from db.scope import Role

from .output import as_json
from .token import token_for
from .wikis import Wiki

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
