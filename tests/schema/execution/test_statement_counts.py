"""How many statements an operation sends: a read one, a search a few, a write as many for a long page as for a short.

The tables are what is, to the statement: whoever changes a number sees it here and says why.
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
from tests.conftest import copied
from tests.listening import ListeningDatabase, listening
from tests.plans.cases import CASES, values

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
    with copied(server_dsn, template) as dsn:
        asyncio.run(write_wikis(dsn, [PLACE]))
        yield dsn


@pytest.fixture
def own_dsn(server_dsn: str, filled_dsn: str) -> Iterator[str]:
    """What one test has written the next does not see."""
    with copied(server_dsn, urlsplit(filled_dsn).path[1:]) as dsn:
        yield dsn


@pytest.fixture
async def database(own_dsn: str) -> AsyncIterator[ListeningDatabase]:
    async with listening(own_dsn) as database:
        yield database


@pytest.fixture(scope="module")
def read_dsn(server_dsn: str, filled_dsn: str) -> Iterator[str]:
    """For the tests that only read. The one that is copied for others may have no connections."""
    with copied(server_dsn, urlsplit(filled_dsn).path[1:]) as dsn:
        yield dsn


@pytest.fixture
async def reader(read_dsn: str) -> AsyncIterator[ListeningDatabase]:
    async with listening(read_dsn) as database:
        yield database


async def sent(
    database: ListeningDatabase, document: str, variables: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The answer, and the statements it took."""
    owner = PLACE.owner_id
    scope = Scope(PLACE.tenant_id, owner, Role.ADMIN, Actor(ActorKind.USER, "marco"), (owner,))
    (await database.heard()).clear()
    answer = orjson.loads((await ENGINE.execute(document, variables, None, Context(database, scope, ANY_COST))).body)
    assert "errors" not in answer, answer["errors"]
    data: dict[str, Any] = answer["data"]
    return data, [one.sql for one in await database.heard()]


@pytest.mark.parametrize("name", NESTED)
async def test_a_read_is_one_statement_however_deep(reader: ListeningDatabase, name: str) -> None:
    data, statements = await sent(reader, NESTED[name], values(PLACE))
    assert all(data.values())
    assert len(statements) == 1


@pytest.mark.parametrize("name", CASES)
async def test_every_root_field_is_one_statement_and_a_search_a_few(reader: ListeningDatabase, name: str) -> None:
    case = CASES[name]
    _, statements = await sent(reader, case.document, values(PLACE))
    assert len(statements) == 1 + STEPS.get(name, STEPS.get(case.root, 0))


SEARCH = "query ($q: String!) { mobileWikiSearch(query: $q) { score page { slug } } }"
RESULTS = "query ($q: String!) { wikiSearchResults(query: $q) { nodes { slug } } }"


async def test_a_search_again_is_one_statement_until_its_words_are_counted_anew(database: ListeningDatabase) -> None:
    asked = {"q": values(PLACE)["common"]}
    first, statements = await sent(database, SEARCH, asked)
    again, fewer = await sent(database, SEARCH, asked)
    assert (len(statements), len(fewer)) == (2, 1)
    assert again == first

    await count_anew(database)
    found, more = await sent(database, SEARCH, asked)
    assert len(more) == 3  # what holds no more, what the words are now, and the answer
    assert found == first
    assert len((await sent(database, SEARCH, asked))[1]) == 1


async def test_results_again_are_a_statement_less_until_their_words_are_counted_anew(
    database: ListeningDatabase,
) -> None:
    asked = {"q": values(PLACE)["common"]}
    first, statements = await sent(database, RESULTS, asked)
    again, fewer = await sent(database, RESULTS, asked)
    assert (len(statements), len(fewer)) == (3, 2)
    assert again == first

    await count_anew(database)
    found, more = await sent(database, RESULTS, asked)
    assert len(more) == 4
    assert found == first


async def count_anew(database: ListeningDatabase) -> None:
    owner = PLACE.owner_id
    scope = Scope(PLACE.tenant_id, owner, Role.ADMIN, Actor(ActorKind.USER, "marco"), (owner,))
    async with writing(database, scope) as writer:
        await fold(writer, ANALYSER)


async def test_a_search_for_nothing_is_no_statement(reader: ListeningDatabase) -> None:
    document = 'query ($tenant: ID!) { wikiSearch(tenantId: $tenant, query: " ?! ") { score } }'
    assert await sent(reader, document, values(PLACE)) == ({"wikiSearch": []}, [])


# BEGIN and COMMIT count; what is announced goes along with the COMMIT. What the payload shows is one more after it.
FOLD_ENDS = named("search/statistics")["fold_terms"].sql[-100:]  # however it begins: what waits is sent with it
WRITES = {
    "addWikiSource": 6,
    "retainWikiSources": 9,
    "ingestWikiSource": 26,
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
    "restoreWikiRevision": 10,
    "renameWikiPage": 14,
    "addWikiAlias": 8,
    "removeWikiAlias": 8,
    "linkWikiPages": 4,
    "unlinkWikiPages": 4,
    "setWikiParent": 8,
    "recordWikiMention": 9,
    "ignoreWikiMention": 6,
    "archiveWikiPage": 7,
    "unarchiveWikiPage": 8,
    "archiveWikiPages": 7,
    "unarchiveWikiPages": 8,
    "tagWikiPages": 6,
    "mergeWikiPages": 36,
    "deleteWikiPage": 12,
    "forgetWikiSource": 12,
    "rebuildWikiPage": 5,
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


def test_every_mutation_is_in_the_table() -> None:
    assert GRAPHQL.mutation_type is not None
    assert set(WRITES) | ASKS == set(GRAPHQL.mutation_type.fields)


@pytest.mark.parametrize("size", [1, 40])
async def test_a_write_takes_as_many_statements_whatever_its_size(database: ListeningDatabase, size: int) -> None:
    taken: dict[str, int] = {}
    ids = {"hub": str(PLACE.page(0)), "topic": str(PLACE.page(1))}
    for name in WRITES:
        shown, statements = await written(database, name, inputs(name, ids, size))
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
async def test_a_transfer_takes_as_many_statements_however_many_texts_and_names_it_is_about(
    database: ListeningDatabase, size: int, taken: int
) -> None:
    """A single row goes along with the next statement."""
    async with database.transaction() as connection:
        sql = "INSERT INTO owners (tenant_id, id, kind, slug, name) VALUES ($1, $2, 'user', 'other', 'Other')"
        await connection.raw.execute(sql, PLACE.tenant_id, PLACE.page(1))
    page, _ = await written(database, "createWikiPage", inputs("createWikiPage", {"hub": "", "topic": ""}, size))
    for number in range(size):
        linking = {"type": "TOPIC", "title": f"Linking {number}", "bodyMd": f"[[Long page {size}]]"}
        await written(database, "createWikiPage", linking)
    _, statements = await written(database, "transferWikiPage", {"pageId": page, "toOwner": "other"})
    statements = [sql for sql in statements if not sql.endswith(FOLD_ENDS)]
    assert next(place for place, sql in enumerate(statements) if sql.endswith("COMMIT;")) + 1 == taken


async def written(database: ListeningDatabase, name: str, input: dict[str, Any]) -> tuple[str, list[str]]:
    """The id of what the payload shows, and the statements."""
    payload = payload_of(name)
    selection = SHOWN.get(payload)
    text = f"userErrors {{ message }} {selection}" if selection else REST[payload]
    assert GRAPHQL.mutation_type is not None
    kind = str(GRAPHQL.mutation_type.fields[name].args["input"].type)
    data, statements = await sent(
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
    """What each mutation is told; `page` is the one that was made first."""
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
        "editWikiPage": page | {"oldText": "## Section 1\n", "newText": "## Section A\n"},
        "appendToWikiPage": page | {"text": links(size)},
        "supersedeWikiClaim": page
        | {"fact": "## Section A\n", "replacement": "## Section B\n"}
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
    """Some lead somewhere, some nowhere."""
    return " ".join(f"[[{PLACE.pages}-{n}]] [[nick{n}]]" for n in range(size))
