"""`cairn demo`: load a sample wiki and serve it."""

import typer

from ..options import Host, Port
from ..output import print_status, say


def add_to(parent: typer.Typer) -> None:
    parent.command("demo", epilog="Example: cairn demo --port 9000")(demo)


def demo(host: Host = None, port: Port = None) -> None:
    """Load a sample wiki and serve it until Ctrl-C. Your changes are kept between runs."""
    import asyncio

    from pydantic import SecretStr

    from db.scope import Role

    from ...server.serve import serve
    from ..demo_wikis import TTL, load_home_wiki, usable_port, welcome, with_quiet_logs
    from ..session import ready_database, run_with_database
    from .admin.keys import token_for
    from .service import settings_with

    settings = with_quiet_logs(settings_with(host=host, port=port))
    with ready_database(settings, creates=True) as dsn:
        wiki = asyncio.run(run_with_database(settings, dsn, load_home_wiki))
        token = token_for(settings, wiki, Role.MEMBER, TTL)
        port = usable_port(settings.host, settings.port)
        settings = settings.model_copy(update={"port": port, "worker": True, "local_token": SecretStr(token)})
        serve(settings, dsn, lambda url: say(welcome(wiki, url, token)))
    print_status("Cairn has stopped, and so has its Postgres unless another command uses it. The data is kept.")
