"""The pages for the upkeep of a wiki: proposals, contradictions, names without a page, findings and compile jobs."""

from typing import Any

import orjson
from starlette.responses import Response

from content.edits.differences import REST_NOT_SHOWN, difference
from content.edits.merging import merge_texts
from db.scope import Role
from lib.threads import offload
from resolvers.errors import BadInput, Forbidden, NotFound
from resolvers.proposals.proposals import NO_PROPOSAL
from schema.enums import WikiContradictionResolution, WikiProposalStatus

from ...stored_queries import QueryFailed
from ..endpoint import Visit
from ..merging import one_line
from ..paths import path_to, redirect
from .read import may_write
from .write import page_path, parse_version, raise_first_error, split_line

RESOLUTIONS = tuple(WikiContradictionResolution.__members__)
STATUSES = tuple(WikiProposalStatus.__members__)


async def work(visit: Visit) -> Response:
    """Show the open work of a wiki, most urgent first. Findings of lint are only for people who may write."""
    is_tenant_admin = visit.wiki.role is Role.ADMIN
    try:
        found = await visit.query("work", "Work", isAdmin=is_tenant_admin, isWriter=True)
    except QueryFailed as error:
        if error.code != Forbidden.code:
            raise
        found = await visit.query("work", "Work", isAdmin=is_tenant_admin, isWriter=False)
    return await visit.show("work.html", may_write=may_write(visit, found["viewer"]), **found)


async def resolve(visit: Visit) -> Response:
    """Decide a contradiction."""
    if visit.form_field("resolution") not in RESOLUTIONS:
        raise BadInput("Choose the claim to keep.", "resolution")
    resolution_input = {
        "contradictionId": visit.form_field("id"),
        "resolution": visit.form_field("resolution"),
        "reason": visit.form_field("reason").strip(),
    }
    raise_first_error(await visit.mutate("work", "Resolve", input=resolution_input))
    return redirect(path_to("work", visit.owner or ""))


async def ignore(visit: Visit) -> Response:
    """Ignore a mention, so that it is not listed and never becomes a page."""
    raise_first_error(await visit.mutate("work", "Ignore", id=visit.form_field("id")))
    return redirect(path_to("work", visit.owner or "", anchor="mentions"))


# -- proposals


async def proposals(visit: Visit) -> Response:
    """Show the proposals with a status, which is open by default."""
    status_text = visit.parameter("status").upper()
    status = status_text if status_text in STATUSES else "OPEN"
    found = await visit.query("work", "Proposals", status=status, after=visit.parameter("after") or None)
    return await visit.show("proposals.html", chosen=status, statuses=STATUSES, **found)


async def proposal_page(visit: Visit, status: int = 200, errors: tuple[Any, ...] = ()) -> Response:
    """Show a proposal: its changes, its reason, and its conflicts with the present page."""
    found = await visit.query("work", "Proposal", id=visit.request.path_params["id"])
    shown: dict[str, Any] | None = found["proposal"]
    if shown is None or (shown["page"] and shown["page"]["owner"]["slug"] != visit.owner):
        raise NotFound(NO_PROPOSAL)
    viewer = found["viewer"]
    is_open = shown["status"] == "OPEN"
    is_own = (shown["authorKind"], shown["authorId"]) == (viewer["actorKind"], viewer["actorId"])
    values: dict[str, Any] = {
        "hunks": await offload(len(shown["diff"]), diff_hunks, shown["diff"]),
        "is_truncated": shown["diff"].endswith(REST_NOT_SHOWN),
        "arguments": orjson.dumps(shown["arguments"], option=orjson.OPT_INDENT_2).decode(),
        "may_decide": is_open and is_admin(visit, viewer),
        "may_withdraw": is_open and is_own,
        "amendment": await make_amendment(visit, shown) if is_open and shown["proposedBodyMd"] is not None else None,
        "is_new": visit.parameter("made") == "1",
    }
    evidence = [(ref, ref.lower().startswith(("http://", "https://"))) for ref in shown["evidence"]]
    return await visit.show("proposal.html", status, errors=errors, evidence=evidence, **values, **found)


def is_admin(visit: Visit, viewer: dict[str, Any]) -> bool:
    """Return whether this person is an admin of the wiki that the path names, and so may decide proposals."""
    return any(space["slug"] == visit.owner and space["role"] == "ADMIN" for space in viewer["scopes"]["nodes"])


async def make_amendment(visit: Visit, shown: dict[str, Any]) -> dict[str, Any]:
    """Return the proposed fields for the reviewer to edit, and the version of the page that the text is based on.

    Fields that the reviewer has edited already are kept. If the page has changed in the same sections since, the text
    is the present one with these sections as proposed.
    """
    title = shown["title"] or "" if shown["proposedTitle"] is None else shown["proposedTitle"]
    summary = one_line(shown["proposedSummary"])
    proposed = {"title": title, "title_before": title, "summary": summary, "summary_before": summary, "reason": ""}
    is_edited = "body" in visit.form
    fields = {name: visit.form_field(name) if is_edited else value for name, value in proposed.items()}
    body = visit.form_field("body") if is_edited else shown["proposedBodyMd"]
    page, version = shown["page"], shown["baseVersion"]
    if is_edited and visit.form_field("version"):
        version = parse_version(visit.form_field("version"))
    if shown["conflicts"] and version < page["version"]:
        base = (await visit.query("work", "Base", id=page["id"], version=version))["page"]["revision"]["bodyMd"]
        texts = base, body, page["bodyMd"]
        merged = await offload(sum(map(len, texts)), merge_texts, *texts)
        body, version = merged.body, page["version"]
    return fields | {"body": body, "version": version, "is_edited": is_edited}


def diff_hunks(unified: str) -> list[list[dict[str, Any]]]:
    """Parse a unified diff into hunks of lines, each line split into the pieces that changed and those that did not."""
    hunks: list[tuple[list[str], list[str]]] = []
    for line in unified.split("\n"):
        sign = line[:1]
        text = line[1:] + "\n"
        if sign == "@":
            hunks.append(([], []))
        elif hunks and sign in (" ", "-", "+"):
            old, new = hunks[-1]
            for side in (old, new) if sign == " " else (old,) if sign == "-" else (new,):
                side.append(text)
    return [
        [
            {"kind": line.kind.upper(), "pieces": split_line(line.text, [part._asdict() for part in line.parts])}
            for hunk in difference("".join(old), "".join(new)).hunks
            for line in hunk.lines
        ]
        for old, new in hunks
    ]


async def accept(visit: Visit) -> Response:
    """Accept the proposal, with the edits of the reviewer if the form has any."""
    decision_input: dict[str, Any] = {"reason": visit.form_field("reason").strip() or None}
    if "body" in visit.form:
        decision_input |= changed_fields(visit)
    return await submit_decision(visit, "Accept", decision_input)


def changed_fields(visit: Visit) -> dict[str, Any]:
    """Return the fields that the reviewer has changed. The text is always included, because it may solve a conflict."""
    fields: dict[str, Any] = {"bodyMd": visit.form_field("body")}
    if visit.form_field("version"):
        fields["bodyVersion"] = parse_version(visit.form_field("version"))
    if visit.form_field("title") != visit.form_field("title_before"):
        fields["title"] = visit.form_field("title").strip()
    if visit.form_field("summary") != visit.form_field("summary_before"):
        fields["summary"] = visit.form_field("summary").strip() or None
    return fields


async def decline(visit: Visit) -> Response:
    return await submit_decision(visit, "Decline", {"reason": visit.form_field("reason").strip()})


async def withdraw(visit: Visit) -> Response:
    return await submit_decision(visit, "Withdraw", {"reason": visit.form_field("reason").strip() or None})


async def submit_decision(visit: Visit, operation: str, decision_input: dict[str, Any]) -> Response:
    """Decide the proposal, or show it again with the errors if that is not possible."""
    id = visit.request.path_params["id"]
    payload = await visit.mutate("work", operation, input={"proposalId": id} | decision_input)
    if payload["conflict"]:
        return await proposal_page(visit, 409, (payload["conflict"],))
    if payload["userErrors"]:
        return await proposal_page(visit, 422, tuple(payload["userErrors"]))
    if operation == "Accept" and payload["page"]:
        return redirect(page_path(visit, payload["page"]))
    return redirect(path_to("proposal", visit.owner or "", id))
