"""What the demo says when it is ready: where to go, with which token, and what to ask."""

from importlib.resources import files
from shlex import quote

from app.graphiql.assets import missing
from app.settings import Settings
from db.scope import Role

from .output import as_json
from .token import token_for
from .wikis import Wiki

TTL = 30 * 86_400  # seconds
CDN = "  (GraphiQL's own files are not here: a browser loads them from a CDN until `make graphiql` has brought them.)"
QUERIES = {
    "search": "What does Mara know about the water in Austin?",
    "city": "One page: what hangs below it, who links to it, the evidence it rests on",
    "spaces": "Who am I, which wikis may I read, which pages hold the most together?",
}


def welcome(settings: Settings, wiki: Wiki, url: str) -> str:
    """Some dozens of lines, to be copied from."""
    token = token_for(settings, wiki, Role.MEMBER, TTL)
    asked = {name: text(name).replace("TENANT", str(wiki.tenant.id)) for name in QUERIES}
    parts = [
        f"Cairn is ready. Ctrl-C stops it and its Postgres.\n\n  GraphQL   {url}/graphql",
        f"  GraphiQL  {url}/graphiql#token={token}",
        f"  Token     {token}",
    ]
    if missing():
        parts.append(CDN)
    parts += [f"\n# {QUERIES[name]}\n{query}" for name, query in asked.items()]
    parts.append(f"# The first of them from a terminal\n{curl(url, token, asked['search'])}")
    return "\n".join(parts)


def text(name: str) -> str:
    return (files("app.cli") / "queries" / f"{name}.graphql").read_text(encoding="utf-8").strip()


def curl(url: str, token: str, query: str) -> str:
    body = as_json({"query": " ".join(query.split())})
    return f"curl {url}/graphql -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d {quote(body)}"
