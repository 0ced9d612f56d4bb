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
    from ...doctor.checks import examine
    from ...doctor.findings import State

    findings = list(examine(Settings()))
    if as_json:
        print_json(
            [
                {"check": finding.check, "state": finding.state, "message": finding.message, "action": finding.action}
                for finding in findings
            ]
        )
    else:
        print_table(
            ["check", "state", "result", "fix"],
            [(finding.check, finding.state, finding.message, finding.action) for finding in findings],
        )
    bad = sum(finding.state is not State.OK for finding in findings)
    if not as_json:
        say(f"{bad} of {len(findings)} checks found a problem." if bad else f"All {len(findings)} checks passed.")
    if any(finding.state is State.FAILED for finding in findings):
        raise typer.Exit(1)
