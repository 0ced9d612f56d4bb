"""`cairn serve`: the service."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import Host, Port
from .output import say

if TYPE_CHECKING:
    from app.settings import Settings

Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=64, help="How many processes; else CAIRN_WORKERS, else 1.")
]


def add_to(parent: typer.Typer) -> None:
    parent.command("serve", epilog="Example: cairn serve --port 9000 --workers 4")(serve)


def serve(host: Host = None, port: Port = None, workers: Workers = None) -> None:
    """Serve GraphQL until Ctrl-C or SIGTERM."""
    from app.server.serve import serve as serving

    from .session import ready

    settings = configured(host=host, port=port, workers=workers)
    with ready(settings, creates=True) as dsn:
        serving(settings, dsn, lambda url: say(f"Cairn answers at {url}/graphql, for people at {url}/graphiql"))


def configured(**given: str | int | None) -> "Settings":
    """The environment's settings, but for those that were given."""
    from .settings import read_settings

    return read_settings().model_copy(update={name: value for name, value in given.items() if value is not None})
