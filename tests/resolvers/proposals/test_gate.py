"""Only the write policy `open` lets a write change pages directly: no mutation bypasses a review or a closed wiki."""

import ast
from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import GraphQLInputObjectType, get_named_type

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.proposals import proposals
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules, policy_for
from resolvers.proposals.operations import PROPOSABLE
from schema.root import GRAPHQL, make_engine
from tests.resolvers.subscriptions.test_changes import CREATED_FIELDS, MUTATIONS, with_ids
from tests.wiki import Wiki

NO_PAGES = {
    "addWikiSource", "retainWikiSources", "recordWikiMention", "ignoreWikiMention", "forgetWikiSource",
    "muteWikiLintFinding", "unmuteWikiLintFinding", "reportWikiLint", "ingestWikiSource",
}  # fmt: skip
"""Mutations of sources, mentions and lint findings, which write no page. The page of an ingested file is tested in
tests/resolvers/ingest."""
TABLES = (
    "pages", "sections", "revisions", "aliases", "old_slugs", "links", "link_targets", "section_sources",
    "superseded_claims", "contradictions", "page_names", "search_pages", "page_positions", "activity",
)  # fmt: skip


async def contents(wiki: Wiki) -> dict[str, list[str]]:
    """Return everything that readers, search and the log can show, except the log entry of a new proposal."""
    found = {table: await wiki.connection.fetch(f"SELECT CAST(t AS text) AS row FROM {table} AS t") for table in TABLES}
    return {
        table: sorted(row["row"] for row in rows if ",proposal.opened," not in row["row"])
        for table, rows in found.items()
    }


async def set_policy(wiki: Wiki, policy: Policy) -> None:
    rules = checked_rules([PolicyRule(WriterRole.ADMIN, policy)])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(rules).decode())


async def test_no_mutation_writes_to_a_wiki_under_review_or_closed(wiki: Wiki) -> None:
    assert GRAPHQL.mutation_type is not None
    engine, ids = make_engine(), {"neighbour": str((await wiki.neighbour()).scope.owner_id)}
    for name, given in MUTATIONS.items():
        field = GRAPHQL.mutation_type.fields[name]
        kind = get_named_type(field.args["input"].type)
        assert isinstance(kind, GraphQLInputObjectType)
        input: dict[str, Any] = {key: with_ids(value, ids) for key, value in given.items()}
        if "pageId" in kind.fields:
            input.setdefault("pageId", ids["page"])
        created = CREATED_FIELDS.get(name)
        selection = f"{'page' if created == 'other' else created} {{ id }}" if created else "__typename"
        document = f"mutation ($input: {field.args['input'].type}) {{ {name}(input: $input) {{ {selection} }} }}"
        if "userErrors" in get_named_type(field.type).fields:
            document = document.replace(selection, f"{selection} userErrors {{ code proposalId }}")
        for policy, code in ((Policy.REVIEW, "REVIEW_REQUIRED"), (Policy.CLOSED, "FORBIDDEN")):
            if name in NO_PAGES:
                continue
            await set_policy(wiki, policy)
            before = await contents(wiki)
            answer = (await engine.execute(document, {"input": input}, None, Context(wiki.database, wiki.scope))).body
            assert await contents(wiki) == before, f"{name} writes under {policy}"
            assert code in answer.decode(), f"{name} says nothing of {policy}: {answer.decode()}"
            if policy is Policy.REVIEW:
                waiting = [str(row["id"]) for row in await wiki.rows("proposals", status="open")]
                assert any(id in answer.decode() for id in waiting), f"{name} names no proposal: {answer.decode()}"
        await set_policy(wiki, Policy.OPEN)
        done = await engine.execute(document, {"input": input}, None, Context(wiki.database, wiki.scope))
        data = orjson.loads(done.body)["data"][name]
        if created:
            ids[created] = next(iter(data.values()))["id"]


def test_every_operation_that_writes_pages_can_be_proposed() -> None:
    """Each function that opens a transaction on a page is proposable, or is for admins of the tenant."""
    root = Path(proposals.__file__).parents[1]
    opening: set[str] = set()
    for path in root.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.AsyncFunctionDef) and path.parent.name in ("pages", "links"):
                text = ast.unparse(function)
                if "writing_page(" in text or "writing_near_page(" in text or "writing_row(" in text:
                    opening |= set() if "Action.ADMINISTER" in text else {function.name}
    assert (
        opening - {"change_status", "share_page", "withdraw_share_link", "close_question", "withdraw_question"}
        <= PROPOSABLE.keys()
    ), (
        "archiving and unarchiving are one function, under two names; a link that shares a page is none, and a question"
        " is closed by the decision that can be proposed, or withdrawn, which writes no page"
    )
    assert len(opening) > 20


def test_the_strictest_rule_for_the_types_of_a_write_applies(wiki: Wiki) -> None:
    rules = [
        PolicyRule(WriterRole.ADMIN, Policy.REVIEW),
        PolicyRule(WriterRole.ADMIN, Policy.OPEN, "topic"),
        PolicyRule(WriterRole.ADMIN, Policy.CLOSED, "decision"),
        PolicyRule(WriterRole.COMPILER, Policy.CLOSED),
    ]
    for types, policy in (
        (["topic"], Policy.OPEN),
        (["topic", "entity"], Policy.REVIEW),
        (["decision", "topic"], Policy.CLOSED),
        (None, Policy.CLOSED),
    ):
        assert policy_for(rules, wiki.scope, types) is policy
    assert policy_for([], wiki.scope, None) is Policy.OPEN


def test_duplicate_rules_are_refused() -> None:
    rule = PolicyRule(WriterRole.MEMBER, Policy.REVIEW)
    with pytest.raises(BadInput, match="two rules"):
        checked_rules([rule, rule])
