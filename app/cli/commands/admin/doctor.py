"""`cairn doctor`: check an installation for problems."""

import typer

from ...options import AsJson
from ...output import print_json, print_table, say


def add_to(parent: typer.Typer) -> None:
    parent.command("doctor", epilog="Example: cairn doctor --json")(doctor)


def doctor(as_json: AsJson = False) -> None:
    """Check the installation for problems. Checks the configuration, disk, certificates and database.

    Nothing is changed. Exits with 1 if a check fails.
    """
    from ....settings import Settings
    from ...doctor import State, examine

    found = list(examine(Settings()))
    if as_json:
        print_json(
            [{"check": one.check, "state": one.state, "message": one.message, "action": one.action} for one in found]
        )
    else:
        print_table(
            ["check", "state", "result", "fix"], [(one.check, one.state, one.message, one.action) for one in found]
        )
    bad = sum(one.state is not State.OK for one in found)
    if not as_json:
        say(f"{bad} of {len(found)} checks found a problem." if bad else f"All {len(found)} checks passed.")
    if any(one.state is State.FAILED for one in found):
        raise typer.Exit(1)
