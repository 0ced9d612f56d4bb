"""The `cairn` program: it registers all commands, runs one of them and reports its errors."""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from . import options
from .commands import (
    context,
    decisions,
    demo,
    edit,
    explain,
    history,
    import_export,
    jobs,
    knowledge,
    lint,
    memories,
    pages,
    search,
    service,
    sources,
    watch,
    wiki,
)
from .commands.admin import attachments, audit, doctor, embeddings, grants, keys, owners, queue, tenants, webhooks
from .commands.data import backups, erasing, moves, sync
from .output import prepare_streams, print_error, print_status, say


def error_details(error: Exception) -> dict[str, Any]:
    """Return what the JSON output adds to an error, such as the lines of an ambiguous edit."""
    extensions = getattr(error, "extensions", None)
    return {name: value for name, value in extensions.items() if name != "code"} if extensions else {}


def quote_nearest(error: Exception) -> str | None:
    """Return the page text nearest to the one that a failed edit looked for and the matching passes tried, or None."""
    from resolvers.pages.edits import EditFailed

    if not isinstance(error, EditFailed) or error.nearest is None:
        return None
    tried = ", ".join(error.passes)
    return f"Tried: {tried}. The nearest text is at line {error.nearest.line}:\n\n{error.nearest.text}"


def describe_error(error: Exception) -> tuple[str, str] | None:
    """Return the code and the message of an expected error, or None for an unexpected one, which is a bug."""
    from pydantic import ValidationError

    from db.archives.folder import ArchiveBroken, ArchiveRefused
    from db.embedded import EmbeddedServerFailed
    from db.migrate import MigrationRefused
    from resolvers.errors import CairnError, Unavailable
    from resolvers.transactions import db_errors

    from ..http.errors import argument_problem

    if isinstance(error, Unavailable) and isinstance(error.__cause__, db_errors.REFUSED):
        return error.code, add_reason(error, error.__cause__)
    if isinstance(error, (CairnError, ArchiveBroken, ArchiveRefused, EmbeddedServerFailed, MigrationRefused)):
        return error.code, str(error)
    if isinstance(error, ValidationError):
        return "BAD_SETTING", "; ".join(
            describe_variable(fault["loc"], argument_problem(fault)) for fault in error.errors()
        )
    translated = db_errors.translate_error(error)
    if isinstance(translated, Unavailable):
        return translated.code, add_reason(translated, error)
    if isinstance(translated, CairnError):
        return translated.code, translated.message
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return "UNREADABLE", f"{where}{error.strerror or error}."
    return None


def add_reason(error: Exception, cause: BaseException) -> str:
    """Return the message with the error text of PostgreSQL, which operators may see and API clients may not."""
    from resolvers.transactions.db_errors import is_disk_error, words

    said = "" if is_disk_error(cause) else words(cause)
    return f"{error} PostgreSQL says: {said}" if said else str(error)


def add_field(error: Exception, message: str) -> str:
    """Return the message for people: it starts with the invalid field, unless it already names the field."""
    field = getattr(error, "field", None)
    return f"{field}: {message}" if field and field.lower() not in message.lower() else message


def describe_variable(place: tuple[int | str, ...], message: str) -> str:
    """Describe an invalid environment variable. A message about several variables names them itself."""
    return f"CAIRN_{str(place[0]).upper()}: {message}" if place else message


COLLECT_EVERY = 50_000  # new objects: the imports of a command create about 250,000, none of which is garbage
USAGE = 2
FAILURE = 1

app = typer.Typer(
    name="cairn",
    help="Run and use Cairn, a knowledge base that compiles sources into linked and cited pages.",
    epilog="Begin with: cairn demo",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
COMMANDS = (
    demo, service, doctor, options, tenants, owners, grants, keys, audit, import_export, sync, backups, moves, erasing,
    queue, jobs, sources, pages, search, context, edit, history, wiki, decisions, memories, watch, lint, knowledge,
    embeddings, attachments, webhooks, explain,
)  # fmt: skip


def say_version(wanted: bool) -> None:
    """Print the version of the installed package."""
    if wanted:
        from importlib.metadata import version

        say(f"cairn {version('cairn-wiki')}")
        raise typer.Exit


@app.callback()
def cairn(
    version: Annotated[
        bool, typer.Option("--version", callback=say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Run and use Cairn, a knowledge base that compiles sources into linked and cited pages."""


for module in COMMANDS:
    module.add_to(app)


@cache
def click_command() -> Callable[..., Any]:
    """Return the Click command of the program. It is cached, because Typer inspects each function to build it."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 for a failure, 2 for wrong usage, 130 after Ctrl-C."""
    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in arguments
    gc.set_threshold(COLLECT_EVERY)
    prepare_streams()
    try:
        return click_command()(arguments, prog_name="cairn", standalone_mode=False) or 0
    except typer.TyperException as error:
        print_error("USAGE", describe_usage_error(error), as_json)
        return USAGE
    except BrokenPipeError:
        # The program that reads our output, such as `head`, has closed the pipe. With stdout on the null device, Python
        # does not print another error when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except Exception as error:
        if (described := describe_error(error)) is None:
            raise
        code, message = described
        print_error(code, message if as_json else add_field(error, message), as_json, error_details(error))
        if not as_json and (text := quote_nearest(error)):
            print_status(text)
        return FAILURE


def use_api_wording(error: typer.TyperException) -> None:
    """Replace the message of an option value that pydantic refused by the message that REST and GraphQL give."""
    if isinstance(error, typer.BadParameter) and error.__cause__ is not None:
        from pydantic import ValidationError

        from ..http.errors import argument_problem

        if isinstance(error.__cause__, ValidationError):
            faults = error.__cause__.errors(include_url=False)
            error.message = "; ".join(dict.fromkeys(argument_problem(fault) for fault in faults))


def describe_usage_error(error: typer.TyperException) -> str:
    """Return the message of a usage error, with the command that prints the help.

    A group that is called without a command returns its help text alone: Typer raises that text as the message.
    """
    use_api_wording(error)
    message = str(error.format_message()).strip()
    context = getattr(error, "ctx", None)
    if message.startswith("Missing "):
        message = " ".join(message.split())
    if context is None or "\n" in message:
        return message
    if isinstance(context.command, options.TextCommand) and message.startswith("No such option"):
        message = f"{message.rstrip('.')}. To pass a text that begins like an option, put it last, after --"
    message = message if message.endswith("?") else f"{message.rstrip('.')}."
    return f"{message} Try: {context.command_path} --help"
