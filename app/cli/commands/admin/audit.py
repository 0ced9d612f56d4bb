"""`cairn audit`, the audit log, and `cairn programs`, the programs that have access by OAuth."""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from ...options import AsJson, Owner, Tenant
from ...output import print_json, print_table, say, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.database import Database
    from resolvers.auth.oauth import ConnectedProgram
    from resolvers.transactions.audit import AuditEvent

POLL_INTERVAL = 1.0  # seconds
LATE = 60.0  # seconds by which a transaction may commit an event after a newer event was seen
app = typer.Typer(help="Manage programs that have access to a wiki by OAuth.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.command("audit", epilog="Example: cairn audit --tenant acme --action api_key --json")(audit)
    parent.add_typer(app, name="programs", epilog="Example: cairn programs list --tenant acme --owner mara")


def audit(
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="SLUG", help="Slug or id of the tenant. Defaults to the operator's log."),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            "--action",
            metavar="NAME",
            help="Only this action, such as api_key.created, or a group of actions, such as api_key.",
        ),
    ] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only refused attempts.")] = False,
    actor: Annotated[
        str | None, typer.Option("--actor", metavar="ID", help="Only events caused by this actor.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number of entries, counted from the newest.")
    ] = 100,
    follow: Annotated[bool, typer.Option("--follow", help="Keep printing new events until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the events of the audit log, oldest first. It records sign-ins, keys, grants, programs, settings, exports
    and erasures.

    With --json and --follow, each event is one line of JSON.
    """
    from ...session import run_in_session

    filters: dict[str, Any] = {"action": action, "outcome": "refused" if refused else None, "actor_id": actor}

    async def work(database: "Database") -> "Sequence[AuditEvent]":
        from resolvers.tenants.tenants import find_tenant
        from resolvers.transactions.audit import OPERATORS_LOG, list_events

        tenant_id = OPERATORS_LOG if tenant is None else (await find_tenant(database, tenant)).id
        events = await list_events(database, tenant_id, limit=limit, **filters)
        if follow:
            await follow_events(database, tenant_id, events, filters, as_json)
        return events

    events = run_in_session(work)
    if as_json:
        print_json([event_to_dict(event) for event in events])
    else:
        print_table(["when", "action", "outcome", "by", "subject", "from", "times", "more"], [*map(table_row, events)])


async def follow_events(
    database: "Database", tenant_id: UUID, events: "Sequence[AuditEvent]", filters: dict[str, Any], as_json: bool
) -> None:
    """Print events as they are committed. Each poll reads the last LATE seconds again, because a transaction may commit
    its events after newer events of another transaction were printed."""
    import asyncio
    from datetime import UTC, datetime, timedelta

    from db.ids import first_id
    from resolvers.transactions.audit import list_events

    printed: dict[UUID, None] = {}
    while True:
        for event in events:
            if event.id not in printed:
                say(to_json(event_to_dict(event)) if as_json else "  ".join(filter(None, table_row(event))))
        printed = dict.fromkeys(event.id for event in events) | dict.fromkeys([*printed][-10_000:])
        await asyncio.sleep(POLL_INTERVAL)
        after = first_id(datetime.now(UTC) - timedelta(seconds=LATE))
        events = await list_events(database, tenant_id, after=after, limit=10_000, **filters)


def table_row(event: "AuditEvent") -> tuple[str, ...]:
    by = f"{event.actor_kind}:{event.actor_id}" if event.actor_id else ""
    more = " ".join(f"{name}={value}" for name, value in event.detail.items())
    when = f"{event.at:%Y-%m-%d %H:%M:%S}"
    return when, event.action, event.outcome, by, event.subject or "", event.address or "", str(event.times), more


def event_to_dict(event: "AuditEvent") -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at,
        "action": event.action,
        "outcome": event.outcome,
        "actorKind": event.actor_kind,
        "actorId": event.actor_id,
        "subject": event.subject,
        "address": event.address,
        "requestId": event.request_id,
        "detail": event.detail,
        "times": event.times,
    }


@app.command("list", epilog="Example: cairn programs list --tenant acme --owner mara --json")
def list_all(tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """List programs with access to a wiki, newest first."""
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "list[ConnectedProgram]":
        from db.scope import Role
        from resolvers.auth.oauth import find_programs

        return await find_programs(database, (await find_wiki(database, tenant, owner)).scope(Role.ADMIN))

    programs = run_in_session(work)
    if as_json:
        print_json([
            {"id": program.id, "name": program.client_name, "redirectUri": program.redirect_uri, "role": program.role,
             "createdAt": program.created_at, "usedAt": program.used_at, "expiresAt": program.expires_at}
            for program in programs
        ])  # fmt: skip
    else:
        rows = [
            (
                program.client_name,
                program.role.value,
                f"{program.created_at:%Y-%m-%d}",
                f"{program.expires_at:%Y-%m-%d}",
                program.id,
            )
            for program in programs
        ]
        print_table(["name", "role", "since", "until", "id"], rows)


@app.command("disconnect", epilog="Example: cairn programs disconnect 0199f0c2-… --tenant acme --owner mara")
def disconnect(
    program_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id shown by `cairn programs list`.")],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Revoke the access of a program. Its last token expires within 15 minutes."""
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> None:
        from db.scope import Role
        from resolvers.auth.oauth import disconnect_program

        wiki = await find_wiki(database, tenant, owner)
        await disconnect_program(database, wiki.scope(Role.ADMIN), program_id)

    run_in_session(work)
    if as_json:
        print_json({"id": program_id, "disconnected": True})
    else:
        say(f"Disconnected the program {program_id}.")
