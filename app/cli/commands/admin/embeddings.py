"""`cairn embeddings`: manage the embeddings of pages and passages for semantic search."""

from typing import TYPE_CHECKING, Any

import typer

from ...options import AsJson, Owner, Tenant
from ...output import print_json, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.embeddings.server import EmbeddingServer

app = typer.Typer(help="Manage embeddings for semantic search.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="embeddings", epilog="Example: cairn embeddings enable")


@app.callback()
def group() -> None:
    """Manage embeddings for semantic search."""


def configured_server() -> "EmbeddingServer":
    """Return the embedding server of the settings. Raises Unavailable if it is not configured."""
    from resolvers.errors import Unavailable

    from ....embeddings import embedder_of
    from ....settings import Settings

    embedder = embedder_of(Settings())
    if embedder is None:
        raise Unavailable(
            "There is no embedding server. Set CAIRN_EMBEDDING_URL, CAIRN_EMBEDDING_MODEL and "
            "CAIRN_EMBEDDING_DIMENSIONS."
        )
    return embedder


@app.command("enable", epilog="Example: cairn embeddings enable")
def enable(as_json: AsJson = False) -> None:
    """Enable semantic search. Creates the vector indexes and queues a job that embeds each wiki."""
    from ...session import run_in_session

    embedder = configured_server()

    async def work(database: "Database") -> dict[str, Any]:
        from resolvers.embeddings import vectors

        await embedder.embed(["a first text"])
        await vectors.enable(database, embedder.dimensions)
        wikis = await vectors.enqueue_embedding_jobs(database, embedder)
        return {"model": embedder.model, "dimensions": embedder.dimensions, "wikis": wikis}

    result = run_in_session(work)
    if as_json:
        print_json(result)
    else:
        say(
            f"Enabled embeddings by {result['model']} in {result['wikis']} wikis. "
            "Start a worker to make them: cairn worker"
        )


@app.command("status", epilog="Example: cairn embeddings status --tenant acme --owner mara")
def status(tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Show the progress of embedding a wiki. Counts the pages and passages that have an embedding of the configured
    model."""
    from ...session import find_wiki, run_in_session

    embedder = configured_server()

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.embeddings import vectors

        scope = (await find_wiki(database, tenant, owner)).scope(Role.READER)
        async with database.connection() as connection:
            is_enabled = await vectors.is_enabled(connection, embedder.dimensions)
        found = await vectors.coverage(database, scope, embedder)
        return {
            "model": embedder.model,
            "dimensions": embedder.dimensions,
            "enabled": is_enabled,
            "pages": found.pages,
            "embeddedPages": found.embedded_pages,
            "passages": found.passages,
            "embeddedPassages": found.embedded_passages,
        }

    result = run_in_session(work)
    if as_json:
        print_json(result)
        return
    say(f"{result['embeddedPages']:,} of {result['pages']:,} pages have a vector of {result['model']}.")
    say(f"{result['embeddedPassages']:,} of {result['passages']:,} passages have a vector of {result['model']}.")
    if not result["enabled"]:
        say("The vectors have no index yet. Run: cairn embeddings enable")


@app.command("disable", epilog="Example: cairn embeddings disable")
def disable(as_json: AsJson = False) -> None:
    """Delete all embeddings and their indexes. Workers create them again as long as an embedding server is
    configured."""
    from ...session import run_in_session

    async def work(database: "Database") -> None:
        from resolvers.embeddings import vectors

        await vectors.disable(database)

    run_in_session(work)
    if as_json:
        print_json({"enabled": False})
    else:
        say("Deleted all vectors. Unset CAIRN_EMBEDDING_URL as well, or workers make them again.")
