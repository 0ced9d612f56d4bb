"""The notifications that writes send."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest
from graphql import GraphQLInputObjectType, get_named_type

from db.ids import new_id
from db.listening import CHANNEL
from db.scope import Terms
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, archive_scope, create_page, delete_page, unarchive_page, update_page
from resolvers.pages.upsert import upsert_page
from resolvers.proposals.proposals import (
    accept_proposal,
    decline_proposal,
    expire_proposals,
    propose_change,
    withdraw_proposal,
)
from resolvers.subscriptions.changes import (
    ANNOUNCED_MAX,
    IN_ONE,
    ChangeEvent,
    ChangeKind,
    ChangeLog,
    Topic,
    announce,
    announce_job,
    kind_of,
    payloads,
    read_payload,
)
from resolvers.transactions.transaction import transaction, writing
from schema.root import GRAPHQL, make_engine
from tests.wiki import Wiki

Events = list[tuple[str, UUID | None, int | None]]


class Notifications:
    """Reads the notifications since the last call: they come in the order of commits, so an extra one marks the end."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection, self.heard, self.fence = connection, list[str](), asyncio.Event()

    async def changes(self) -> list[ChangeEvent]:
        self.fence.clear()
        await self.connection.execute("NOTIFY fence")
        async with asyncio.timeout(30):
            await self.fence.wait()
        heard, self.heard = self.heard, []
        return [change for text in heard for change in read_payload(text)]

    async def events(self) -> Events:
        return [(change.kind.name, change.id, change.version) for change in await self.changes()]


@pytest.fixture
async def notifications(wiki: Wiki, dsn: str) -> AsyncIterator[Notifications]:
    connection = await asyncpg.connect(dsn)
    notifications = Notifications(connection)
    await connection.add_listener(CHANNEL, lambda *told: notifications.heard.append(told[-1]))
    await connection.add_listener("fence", lambda *_: notifications.fence.set())
    yield notifications
    await connection.close()


async def test_each_kind_of_change_has_its_event_kind(wiki: Wiki, notifications: Notifications) -> None:
    database, scope = wiki.database, wiki.scope
    page = (await create_page(database, scope, PageDraft("topic", "Austin", aliases=["atx"]))).page_id
    other = (await create_page(database, scope, PageDraft("topic", "Texas"))).page_id
    assert await notifications.events() == [("CREATED", page, 1), ("CREATED", other, 1)]
    await update_page(database, scope, page, body="Hot.")
    await update_page(database, scope, page, body="Hot.")
    await update_page(database, scope, page, slug="atx")
    await set_parent(database, scope, page, parent_id=other)
    assert await notifications.events() == [("UPDATED", page, 2), ("RENAMED", page, 3), ("MOVED", page, None)]
    await archive_page(database, scope, page)
    await archive_page(database, scope, page)
    await unarchive_page(database, scope, page)
    await upsert_page(database, scope, PageDraft("topic", "Austin", slug="atx", status="archived"))
    await upsert_page(database, scope, PageDraft("topic", "Austin", slug="atx"), mark_compiled=True)
    kinds = ["ARCHIVED", "RESTORED", "ARCHIVED", "RESTORED"]
    assert await notifications.events() == [(kind, page, 3) for kind in kinds]
    await delete_page(database, scope, other)
    assert sorted(await notifications.events()) == [("DELETED", other, None), ("MOVED", page, None)]
    await archive_scope(database, scope)
    assert await notifications.events() == [("ARCHIVED", None, None)]


async def test_proposals_are_announced_when_created_and_when_decided(wiki: Wiki, notifications: Notifications) -> None:
    database, scope = wiki.database, wiki.scope
    page = (await create_page(database, scope, PageDraft("topic", "Austin"))).page_id

    async def propose(title: str) -> UUID:
        terms = Terms("It is called so.")
        proposed = await propose_change(
            database, scope, terms, lambda asked: update_page(database, asked, page, title=title)
        )
        assert proposed.proposal_id is not None
        return proposed.proposal_id

    async def events() -> list[tuple[Topic, str, UUID | None]]:
        return [(change.topic, change.kind.name, change.id) for change in await notifications.changes()]

    await events()
    first, second, third, fourth = [await propose(title) for title in ("A", "B", "C", "D")]
    assert await events() == [(Topic.PROPOSALS, "CREATED", id) for id in (first, second, third, fourth)]
    await accept_proposal(database, scope, first)
    assert await events() == [(Topic.PAGES, "RENAMED", page), (Topic.PROPOSALS, "UPDATED", first)]
    await decline_proposal(database, scope, second, "No.")
    await withdraw_proposal(database, scope, third)
    await wiki.connection.execute("UPDATE proposals SET expires_at = now() WHERE id = $1", fourth)
    assert await expire_proposals(database) == 1
    assert await events() == [(Topic.PROPOSALS, "UPDATED", id) for id in (second, third, fourth)]


MUTATIONS: dict[str, dict[str, Any]] = {
    "addWikiSource": {"kind": "DOCUMENT", "ref": "r", "content": "Said."},
    "ingestWikiSource": {"category": "SOURCE", "content": "A note on tides.", "address": "tides.md"},
    "retainWikiSources": {"sources": [{"kind": "URL", "ref": "u", "content": "Said."}]},
    "createWikiPage": {"type": "TOPIC", "title": "Austin", "bodyMd": "## A\n\na\n\n## B\n\nb"},
    "upsertWikiPage": {"type": "TOPIC", "title": "Texas"},
    "updateWikiPage": {"summary": "Hot."},
    "patchWikiSection": {"sectionSlug": "a", "bodyMd": "aa"},
    "moveWikiSection": {"sectionSlug": "a", "position": 1},
    "editWikiPage": {"oldText": "aa", "newText": "aaa"},
    "appendToWikiPage": {"text": "More.", "sectionSlug": "a"},
    "supersedeWikiClaim": {"fact": "More.", "replacement": "Less.", "overriddenBy": {"kind": "URL", "ref": "u"}},
    "withdrawWikiSupersededClaim": {"claimId": "claim"},
    "recordWikiContradiction": {"older": {"claim": "More."}, "newer": {"claim": "Less."}},
    "resolveWikiContradiction": {
        "contradictionId": "contradiction",
        "resolution": "BOTH_HOLD",
        "reason": "Of two years",
    },
    "restoreWikiRevision": {"version": 1},
    "renameWikiPage": {"title": "Austin, Texas"},
    "tagWikiPages": {"pageIds": ["page"], "add": ["city"]},
    "citeWikiSource": {"sectionSlug": "a", "sourceId": "source"},
    "removeWikiSection": {"sectionSlug": "b"},
    "addWikiAlias": {"name": "atx"},
    "removeWikiAlias": {"name": "atx"},
    "linkWikiPages": {"fromPageId": "page", "toPageId": "other"},
    "unlinkWikiPages": {"fromPageId": "page", "toPageId": "other"},
    "setWikiParent": {"parentId": "other"},
    "recordWikiMention": {"name": "Mara", "sourceId": "source"},
    "ignoreWikiMention": {"mentionId": "mention"},
    "muteWikiLintFinding": {"check": "orphans", "reason": "An entry page."},
    "unmuteWikiLintFinding": {"check": "orphans"},
    "reportWikiLint": {},
    "archiveWikiPage": {},
    "unarchiveWikiPage": {},
    "archiveWikiPages": {"pageIds": ["page"]},
    "unarchiveWikiPages": {"pageIds": ["page"]},
    "mergeWikiPages": {"fromPageId": "other", "intoPageId": "page"},
    "transferWikiPage": {"pageId": "other", "toOwner": "neighbour"},
    "archiveWikiScope": {},
    "deleteWikiPage": {},
    "forgetWikiSource": {"sourceId": "source"},
    "createWikiStub": {"type": "TOPIC", "title": "Tides", "text": "They come twice a day."},
    "recordWikiDecision": {"question": "Which store?", "why": "It costs.", "options": ["A", "B"], "decision": "A."},
}
ASKS = {
    "compileWikiNow", "resetWikiCursor", "bootstrapJournalImport", "rebuildWikiPage", "rebuildWiki", "setWikiLanguage"
}  # fmt: skip
"""Mutations that only queue a job of the compiler. The job itself is announced."""
OF_COMPILED = {"suppressWikiSectionPromotion", "dropWikiLinks"}
"""Mutations of what a compiler has written, tested with growing sections and with kinds of links."""
OF_PROPOSALS = {
    "proposeWikiChange", "acceptWikiProposal", "declineWikiProposal", "withdrawWikiProposal", "decideWikiProposals",
    "shareWikiPage", "withdrawWikiShareLink", "askWikiDecision",
    "withdrawWikiDecisionQuestion",
}  # fmt: skip
"""Mutations that change no page themselves. An accepted proposal announces the changes of its operation."""
OF_NO_WIKI = {
    "updateWikiSettings", "createWikiOwner", "createApiKey", "rotateApiKey", "revokeApiKey", "grantWikiAccess",
    "revokeWikiAccess", "disconnectWikiProgram", "createWebhook", "updateWebhook", "deleteWebhook",
    "rotateWebhookSecret", "redeliverWebhook",
}  # fmt: skip
"""Mutations of settings and credentials, which change no page."""
CREATED_FIELDS = {
    "addWikiSource": "source", "createWikiPage": "page", "upsertWikiPage": "other", "recordWikiMention": "mention",
    "supersedeWikiClaim": "claim", "recordWikiContradiction": "contradiction",
}  # fmt: skip


def with_ids(value: Any, ids: dict[str, str]) -> Any:
    """Replace names of created rows by their ids."""
    if isinstance(value, list):
        return [with_ids(item, ids) for item in value]
    return ids.get(value, value) if isinstance(value, str) else value


async def test_every_mutation_announces_each_change_once(wiki: Wiki, notifications: Notifications) -> None:
    assert GRAPHQL.mutation_type is not None
    assert set(MUTATIONS) | ASKS | OF_COMPILED | OF_PROPOSALS | OF_NO_WIKI == set(GRAPHQL.mutation_type.fields), (
        "a new mutation: say here how it is called"
    )
    engine, neighbour = make_engine(), (await wiki.neighbour()).scope.owner_id
    ids = {"neighbour": str(neighbour)}
    for name, given in MUTATIONS.items():
        field = GRAPHQL.mutation_type.fields[name]
        kind = get_named_type(field.args["input"].type)
        assert isinstance(kind, GraphQLInputObjectType)
        input = {key: with_ids(value, ids) for key, value in given.items()}
        if "pageId" in kind.fields:
            input.setdefault("pageId", ids["page"])
        created = CREATED_FIELDS.get(name)
        selection = f"{'page' if created == 'other' else created} {{ id }}" if created else "__typename"
        document = f"mutation ($input: {field.args['input'].type}) {{ {name}(input: $input) {{ {selection} }} }}"
        answer = await engine.execute(document, {"input": input}, None, Context(wiki.database, wiki.scope))
        data = orjson.loads(answer.body)["data"][name]
        if created:
            ids[created] = next(iter(data.values()))["id"]
        changes = await notifications.changes()
        assert changes, f"{name} announces nothing"
        assert len({change.id for change in changes}) == len(changes), f"{name} announces a page twice"
        wikis = {wiki.scope.owner_id, *([neighbour] if name == "transferWikiPage" else ())}
        assert {(change.tenant_id, change.owner_id) for change in changes} == {
            (wiki.scope.tenant_id, owner_id) for owner_id in wikis
        }


async def test_a_rolled_back_change_is_not_announced(wiki: Wiki, notifications: Notifications) -> None:
    async def failing() -> None:
        async with writing(wiki.database, wiki.scope) as writer:
            announce(writer, [change(wiki, new_id())])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert await notifications.events() == []


async def test_a_job_is_announced_when_its_row_is_committed(wiki: Wiki, notifications: Notifications) -> None:
    tenant, owner, job = wiki.scope.tenant_id, wiki.scope.owner_id, new_id()
    async with transaction(wiki.database) as connection:
        await connection.raw.execute(
            "INSERT INTO compile_jobs (tenant_id, owner_id, id, dedupe_key, trigger) VALUES ($1, $2, $3, 'k', 't')",
            *(tenant, owner, job),
        )
        announce_job(connection, tenant, owner, job, ChangeKind.CREATED)
    (event,) = await notifications.changes()
    assert (event.topic, event.kind, event.id) == (Topic.JOBS, ChangeKind.CREATED, job)


async def test_changes_beyond_the_limit_are_announced_as_one_resync(wiki: Wiki, notifications: Notifications) -> None:
    changes = ChangeLog(wiki.scope.tenant_id, wiki.scope.owner_id, change(wiki, None).at)
    for _ in range(ANNOUNCED_MAX):
        changes.add(ChangeKind.RENAMED, new_id(), 2**31 - 1)
    texts = payloads(changes.all())
    assert len(texts) == ANNOUNCED_MAX / IN_ONE
    assert max(map(len, texts)) < 8000
    async with transaction(wiki.database) as connection:
        announce(connection, changes.all())
    assert [event.id for event in await notifications.changes()] == list(changes.found)
    changes.add(ChangeKind.UPDATED, new_id())
    assert [(event.kind, event.id) for event in changes.all()] == [(ChangeKind.RESYNC, None)]


def change(wiki: Wiki, id: UUID | None) -> ChangeEvent:
    at = datetime.now(UTC)
    return ChangeEvent(wiki.scope.tenant_id, wiki.scope.owner_id, Topic.PAGES, ChangeKind.UPDATED, id, None, at)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '["pages", 1, 2, 3, 4]', '["pages", "a", "b", "c", []]'])
def test_malformed_notifications_are_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        read_payload(text)


@pytest.mark.parametrize(
    ("action", "has_page", "kind"),
    [
        ("page.created", True, "CREATED"),
        ("section.moved", True, "UPDATED"),
        ("source.cited", True, "UPDATED"),
        ("source.added", False, "EVIDENCE"),
        ("wiki.archived", False, "ARCHIVED"),
        ("page.somehow", True, "UPDATED"),
    ],
)
def test_each_logged_action_has_its_kind_of_change(action: str, has_page: bool, kind: str) -> None:
    assert kind_of(action, has_page).name == kind
