"""Operations send a fixed number of SQL statements, whatever the depth of a read or the size of a write.

The tables hold the exact numbers, so a change of a number needs a reason.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from benchmarks.wikis import wiki, write_wikis
from content.search.words import ANALYSER
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements as named
from resolvers.context import Context
from resolvers.search.lexemes import fold
from resolvers.transactions.transaction import writing
from schema.root import GRAPHQL, make_engine
from tests.conftest import database_copy
from tests.plans.cases import CASES, values
from tests.recording_database import RecordingDatabase, recording_database

PLACE = wiki(1, 1, 60, hub=10)
ENGINE = make_engine()
ANY_COST = 10**9

NESTED = {
    "a page with its neighbourhood": """
        query ($tenant: ID!, $slug: String!) { wikiPage(tenantId: $tenant, type: ENTITY, slug: $slug) {
            sections { heading citations { nodes { source { ref pages { nodes { title } } } } } }
            parent { title parent { title } children { title aliases } }
            backlinks { edges { kinds node { title links { nodes { toPage { title } } } } } totalCount }
        } }""",
    "a list of everything": """
        { wikiPages(first: 20, orderBy: HUBNESS) { totalCount pageInfo { endCursor hasNextPage } nodes {
            aliases sections { heading sourceCount } parent { parent { title } } children { title parent { title } }
            revisions { nodes { version page { title } } } mentions { nodes { sources { nodes { ref } } } }
        } } }""",
    "evidence from both ends": """
        { wikiSources { nodes { pageCount sections { nodes { page { title sources { nodes {
            citations { nodes { section { heading page { title } } } } } } } } } } } }""",
    "several roots": """
        query ($tenant: ID!, $hub: ID!) {
            viewer { owner { name } scopes { nodes { role } } }
            wikiGraph(tenantId: $tenant) { nodes { edgeCount } edges { source } }
            wikiNeighbourhood(pageId: $hub) { page { title } nodes(depth: 2) { label } edges(depth: 2) { kind } }
            hub: node(id: $hub) { ... on WikiPage { descendants(depth: 3) { nodes { ancestors { title } } } } }
            recentWikiPages { title promotedFromSection { parentPage { title } } }
        }""",
    "the same thing many times": """
        query ($hub: ID!) { a: wikiBacklinks(pageId: $hub) { ...Page } b: wikiConnectedPages(pageId: $hub) { ...Page } }
        fragment Page on WikiPage { title connectedPages { nodes { title connectedPages { nodes { title } } } } }""",
}
# Before the one that shows what was found, by the case or by its root: what the words are; which pages say them, where
# more than hits is asked for; then how many there are, and of the shown ones their sections and how the words in these
# are written.
STEPS = {
    "wikiSearch": 1,
    "mobileWikiSearch": 1,
    "diffWikiRevisions": 2,
    "relatedWikiPages": 3,
    "explained": 2,
    "search with a mistake": 3,  # what the words may have been, and whether a page that may be found has those
    "results of a type": 3,
    "search results": 4,
    "wikiKnowledgeMap": 1,
    "wikiActivityLog": 1,
    "wikiDiary": 1,
    "source search": 2,  # no passage says this word, so there is no snippet
    "source search by a common word": 3,
    "search in everything": 5,  # the spaces, and two for each kind
    "context": 9,  # a search with the snippets of pages, and pages by rule, sections and passages
    "search results and their next page": 5,
    "pages since": 3,  # the transaction in which it is planned for its values
}


@pytest.fixture(scope="module")
def filled_dsn(server_dsn: str, template: str) -> Iterator[str]:
    with database_copy(server_dsn, template) as dsn:
        asyncio.run(write_wikis(dsn, [PLACE]))
        yield dsn


@pytest.fixture
def own_dsn(server_dsn: str, filled_dsn: str) -> Iterator[str]:
    """The address of a copy of the filled database for one test that writes."""
    with database_copy(server_dsn, urlsplit(filled_dsn).path[1:]) as dsn:
        yield dsn


@pytest.fixture
async def database(own_dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(own_dsn) as database:
        yield database


@pytest.fixture(scope="module")
def read_dsn(server_dsn: str, filled_dsn: str) -> Iterator[str]:
    """The address of a shared copy for tests that only read, as a database with connections cannot be copied."""
    with database_copy(server_dsn, urlsplit(filled_dsn).path[1:]) as dsn:
        yield dsn


@pytest.fixture
async def reader(read_dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(read_dsn) as database:
        yield database


async def execute(
    database: RecordingDatabase, document: str, variables: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Execute the document, and return its data and the statements that were sent."""
    owner = PLACE.owner_id
    scope = Scope(PLACE.tenant_id, owner, Role.ADMIN, Actor(ActorKind.USER, "marco"), (owner,))
    (await database.sent_statements()).clear()
    answer = orjson.loads((await ENGINE.execute(document, variables, None, Context(database, scope, ANY_COST))).body)
    assert "errors" not in answer, answer["errors"]
    data: dict[str, Any] = answer["data"]
    return data, [one.sql for one in await database.sent_statements()]


@pytest.mark.parametrize("name", NESTED)
async def test_a_read_is_one_statement_however_deep(reader: RecordingDatabase, name: str) -> None:
    data, statements = await execute(reader, NESTED[name], values(PLACE))
    assert all(data.values())
    assert len(statements) == 1


@pytest.mark.parametrize("name", CASES)
async def test_root_fields_take_the_expected_number_of_statements(reader: RecordingDatabase, name: str) -> None:
    case = CASES[name]
    _, statements = await execute(reader, case.document, values(PLACE))
    assert len(statements) == 1 + STEPS.get(name, STEPS.get(case.root, 0))


SEARCH = "query ($q: String!) { mobileWikiSearch(query: $q) { score page { slug } } }"
RESULTS = "query ($q: String!) { wikiSearchResults(query: $q) { nodes { slug } } }"


async def test_a_repeated_search_is_one_statement_until_words_are_recounted(database: RecordingDatabase) -> None:
    variables = {"q": values(PLACE)["common"]}
    first, statements = await execute(database, SEARCH, variables)
    again, fewer = await execute(database, SEARCH, variables)
    assert (len(statements), len(fewer)) == (2, 1)
    assert again == first

    await count_anew(database)
    found, more = await execute(database, SEARCH, variables)
    assert len(more) == 3  # what holds no more, what the words are now, and the answer
    assert found == first
    assert len((await execute(database, SEARCH, variables))[1]) == 1


async def test_repeated_results_save_a_statement_until_words_are_recounted(
    database: RecordingDatabase,
) -> None:
    variables = {"q": values(PLACE)["common"]}
    first, statements = await execute(database, RESULTS, variables)
    again, fewer = await execute(database, RESULTS, variables)
    assert (len(statements), len(fewer)) == (3, 2)
    assert again == first

    await count_anew(database)
    found, more = await execute(database, RESULTS, variables)
    assert len(more) == 4
    assert found == first


async def count_anew(database: RecordingDatabase) -> None:
    owner = PLACE.owner_id
    scope = Scope(PLACE.tenant_id, owner, Role.ADMIN, Actor(ActorKind.USER, "marco"), (owner,))
    async with writing(database, scope) as writer:
        await fold(writer, ANALYSER)


async def test_an_empty_search_sends_no_statement(reader: RecordingDatabase) -> None:
    document = 'query ($tenant: ID!) { wikiSearch(tenantId: $tenant, query: " ?! ") { score } }'
    assert await execute(reader, document, values(PLACE)) == ({"wikiSearch": []}, [])


# BEGIN and COMMIT count; what is announced goes along with the COMMIT. What the payload shows is one more after it.
FOLD_ENDS = named("search/statistics")["fold_terms"].sql[-100:]  # however it begins: what waits is sent with it
WRITES = {
    "addWikiSource": 6,
    "retainWikiSources": 9,
    "ingestWikiSource": 27,
    "createWikiPage": 6,
    "upsertWikiPage": 11,
    "updateWikiPage": 12,
    "patchWikiSection": 8,
    "moveWikiSection": 7,
    "citeWikiSource": 10,
    "removeWikiSection": 7,
    "editWikiPage": 8,
    "supersedeWikiClaim": 17,
    "withdrawWikiSupersededClaim": 8,
    "recordWikiContradiction": 7,
    "resolveWikiContradiction": 11,
    "appendToWikiPage": 8,
    "restoreWikiRevision": 13,
    "renameWikiPage": 14,
    "addWikiAlias": 8,
    "removeWikiAlias": 8,
    "linkWikiPages": 4,
    "unlinkWikiPages": 4,
    "setWikiParent": 8,
    "recordWikiMention": 9,
    "ignoreWikiMention": 6,
    "archiveWikiPage": 8,
    "unarchiveWikiPage": 9,
    "archiveWikiPages": 8,
    "unarchiveWikiPages": 9,
    "tagWikiPages": 6,
    "mergeWikiPages": 36,
    "deleteWikiPage": 12,
    "forgetWikiSource": 12,
    "rebuildWikiPage": 6,
    "archiveWikiScope": 10,
}
SHOWN = {
    "WikiPagePayload": "page { id version }",
    "WikiEditPayload": "page { id version }",
    "WikiRenamePayload": "page { id version }",
    "WikiSourcePayload": "source { id }",
    "WikiIngestPayload": "source { id }",
    "WikiCitationPayload": "citation { id }",
    "WikiMentionPayload": "mention { id }",
    "WikiSupersessionPayload": "claim { id }",
    "WikiContradictionPayload": "contradiction { id }",
    "WikiForgettingPayload": "source { id }",
}
ASKS = {
    "compileWikiNow", "resetWikiCursor", "bootstrapJournalImport", "suppressWikiSectionPromotion", "dropWikiLinks",
    "rebuildWiki", "setWikiLanguage", "updateWikiSettings", "createWikiOwner", "grantWikiAccess", "revokeWikiAccess",
    "createApiKey", "revokeApiKey", "rotateApiKey", "disconnectWikiProgram", "proposeWikiChange",
    "acceptWikiProposal", "declineWikiProposal",
    "withdrawWikiProposal", "decideWikiProposals", "shareWikiPage", "withdrawWikiShareLink",
    "muteWikiLintFinding", "unmuteWikiLintFinding", "reportWikiLint", "transferWikiPage",
    "askWikiDecision", "withdrawWikiDecisionQuestion", "recordWikiDecision", "createWikiStub",
    "createWebhook", "updateWebhook", "deleteWebhook", "rotateWebhookSecret", "redeliverWebhook",
}  # fmt: skip
"""Writes for admins, of one size only, and proposals, which are the writes that are counted here. The transfer to
another wiki has a test of its own."""
REST = {
    "WikiScopePayload": "pagesArchived",
    "WikiPagesPayload": "outcomes { ok }",
    "WikiRetentionPayload": "items { ok }",
    "WikiDeletionPayload": "deletedPageId",
    "WikiRebuildPayload": "compileJobId",
}


def test_every_mutation_is_counted_or_listed_as_uncounted() -> None:
    assert GRAPHQL.mutation_type is not None
    assert set(WRITES) | ASKS == set(GRAPHQL.mutation_type.fields)


@pytest.mark.parametrize("size", [1, 40])
async def test_a_write_takes_the_same_statements_for_any_size(database: RecordingDatabase, size: int) -> None:
    taken: dict[str, int] = {}
    ids = {"hub": str(PLACE.page(0)), "topic": str(PLACE.page(1))}
    for name in WRITES:
        shown, statements = await write(database, name, inputs(name, ids, size))
        ids |= {"updateWikiPage": {}, "createWikiPage": {"page": shown}, "addWikiSource": {"source": shown},
                "recordWikiMention": {"mention": shown},
                "supersedeWikiClaim": {"claim": shown},
                "recordWikiContradiction": {"contradiction": shown}}.get(name, {})  # fmt: skip
        statements = [
            sql for sql in statements if not sql.endswith(FOLD_ENDS)
        ]  # now and then one write counts for many
        commit = next(place for place, sql in enumerate(statements) if sql.endswith("COMMIT;"))
        assert len(statements) - commit - 1 == is_shown(name), "the payload is one read"
        taken[name] = commit + 1
    alone = {"retainWikiSources": 8} if size == 1 else {}  # a single row goes along with the next statement
    assert taken == WRITES | alone


@pytest.mark.parametrize(("size", "taken"), [(1, 39), (2, 41), (20, 41)])
async def test_statements_of_a_transfer_do_not_grow_with_links_and_names(
    database: RecordingDatabase, size: int, taken: int
) -> None:
    """A single row is sent together with the next statement."""
    async with database.transaction() as connection:
        sql = "INSERT INTO owners (tenant_id, id, kind, slug, name) VALUES ($1, $2, 'user', 'other', 'Other')"
        await connection.raw.execute(sql, PLACE.tenant_id, PLACE.page(1))
    page, _ = await write(database, "createWikiPage", inputs("createWikiPage", {"hub": "", "topic": ""}, size))
    for number in range(size):
        linking = {"type": "TOPIC", "title": f"Linking {number}", "bodyMd": f"[[Long page {size}]]"}
        await write(database, "createWikiPage", linking)
    _, statements = await write(database, "transferWikiPage", {"pageId": page, "toOwner": "other"})
    statements = [sql for sql in statements if not sql.endswith(FOLD_ENDS)]
    assert next(place for place, sql in enumerate(statements) if sql.endswith("COMMIT;")) + 1 == taken


async def write(database: RecordingDatabase, name: str, input: dict[str, Any]) -> tuple[str, list[str]]:
    """Execute the mutation, and return the id of the object in its payload and the statements."""
    payload = payload_of(name)
    selection = SHOWN.get(payload)
    text = f"userErrors {{ message }} {selection}" if selection else REST[payload]
    assert GRAPHQL.mutation_type is not None
    kind = str(GRAPHQL.mutation_type.fields[name].args["input"].type)
    data, statements = await execute(
        database, f"mutation ($input: {kind}) {{ {name}(input: $input) {{ {text} }} }}", {"input": input}
    )
    answer = data[name]
    assert not answer.get("userErrors")
    return (answer[selection.split()[0]]["id"] if selection else ""), statements


def payload_of(name: str) -> str:
    assert GRAPHQL.mutation_type is not None
    return str(GRAPHQL.mutation_type.fields[name].type).rstrip("!")


def is_shown(name: str) -> bool:
    return payload_of(name) in SHOWN


def inputs(name: str, ids: dict[str, str], size: int) -> dict[str, Any]:
    """Return the input of a mutation; `ids` has the page that was created first as `page`."""
    page = {"pageId": ids.get("page")}
    pair = {"fromPageId": ids.get("page"), "toPageId": ids["hub"]}
    by = {"source": {"kind": "DOCUMENT", "ref": f"long-{size}"}}
    title, names = f"Long page {size}", [f"name {n} of {size}" for n in range(size)]
    given: dict[str, dict[str, Any]] = {
        "addWikiSource": {"kind": "DOCUMENT", "ref": f"long-{size}", "content": "words " * size},
        "ingestWikiSource": {
            "category": "REFERENCE",
            "address": f"kilns/{size}.md",
            "content": f"# Kiln {size}\n\n{'Old. ' * size}\n",
        },
        "retainWikiSources": {
            "sources": [{"kind": "DOCUMENT", "ref": f"one-{size}-{n}", "content": "words"} for n in range(size)]
        },
        "createWikiPage": {"type": "TOPIC", "title": title, "bodyMd": body(size, ""), "aliases": names, "tags": names},
        "upsertWikiPage": {"type": "TOPIC", "title": title, "bodyMd": body(size, "anew"), "aliases": [*names, title]},
        "updateWikiPage": page | {"bodyMd": body(size, "changed"), "title": f"{title} now", "slug": f"now-{size}"},
        "patchWikiSection": page | {"sectionSlug": "section_0", "bodyMd": links(size)},
        "moveWikiSection": page | {"sectionSlug": "section_0", "position": size},
        "citeWikiSource": page | {"sectionSlug": "section_0", "sourceId": ids.get("source")},
        "removeWikiSection": page | {"sectionSlug": "section_0"},
        "editWikiPage": page | {"oldText": "## Section 1\n", "newText": "## Section A\n\nNew.\n"},
        "appendToWikiPage": page | {"text": links(size)},
        "supersedeWikiClaim": page
        | {"fact": "## Section A\n", "replacement": "## Section B\n\nNewer.\n"}
        | {"overriddenBy": {"kind": "DOCUMENT", "ref": f"long-{size}"}},
        "withdrawWikiSupersededClaim": {"claimId": ids.get("claim")},
        "recordWikiContradiction": page | {"older": {"claim": "Section A"} | by, "newer": {"claim": "Section B"} | by},
        "resolveWikiContradiction": {
            "contradictionId": ids.get("contradiction"),
            "resolution": "KEEP_NEWER",
            "reason": "Read again",
        },
        "restoreWikiRevision": page | {"version": 1},
        "renameWikiPage": page | {"title": f"Renamed {size}", "slug": f"renamed-{size}"},
        "archiveWikiPages": {"pageIds": [ids.get("page")]},
        "unarchiveWikiPages": {"pageIds": [ids.get("page")]},
        "tagWikiPages": {"pageIds": [ids.get("page")], "add": ["new"]},
        "mergeWikiPages": {"fromPageId": ids.get("page"), "intoPageId": ids["topic"]},
        "addWikiAlias": page | {"name": f"another {size}"},
        "removeWikiAlias": page | {"name": f"another {size}"},
        "linkWikiPages": pair,
        "unlinkWikiPages": pair,
        "setWikiParent": page | {"parentId": ids["hub"]},
        "recordWikiMention": {"name": f"Somebody {size}", "sourceId": ids.get("source"), "quote": "words " * size},
        "ignoreWikiMention": {"mentionId": ids.get("mention")},
        "forgetWikiSource": {"sourceId": ids.get("source")},
        "rebuildWikiPage": {"pageId": ids["hub"]},
        "archiveWikiScope": {},
    }
    return given.get(name, page)


def body(size: int, word: str) -> str:
    return "\n\n".join(f"## Section {n}\n\n{word} {links(size)}" for n in range(size + 1))


def links(size: int) -> str:
    """Return links, some of which are broken."""
    return " ".join(f"[[{PLACE.pages}-{n}]] [[nick{n}]]" for n in range(size))
