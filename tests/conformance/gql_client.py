"""The example application in Python: gql over httpx. It prints a line for each check."""

import asyncio
import os
import sys
from typing import Any

from gql import Client, gql
from gql.client import AsyncClientSession
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport
from gql.transport.websockets import WebsocketsTransport

PAGE = """query Page($tenantId: ID!, $slug: String!) {
    wikiPage(tenantId: $tenantId, type: ENTITY, slug: $slug) { id title version aliases sections { id bodyMd } }
}"""
PAGES = """query Pages($first: Int!, $after: String) {
    wikiPages(first: $first, after: $after) {
        totalCount edges { node { id title } } pageInfo { hasNextPage endCursor }
    }
}"""
RENAME = """mutation Rename($input: UpdateWikiPageInput!) {
    updateWikiPage(input: $input) { userErrors { field } conflict { currentVersion } page { id } }
}"""
WRITE = """mutation Write($input: UpsertWikiPageInput!) { upsertWikiPage(input: $input) { page { version } } }"""
FOLLOWED = "subscription { wikiScopeChanged(initial: true) { kind version page { title } } }"
WRONG = 'query { wikiPages(after: "no cursor") { nodes { id } } }'
HEADERS = {"authorization": f"Bearer {os.environ['CAIRN_TOKEN']}"}


class Application:
    """One session; each public method is a check, and its docstring the check's name."""

    def __init__(self, session: AsyncClientSession) -> None:
        self.session = session

    async def _ask(self, text: str, **variables: Any) -> dict[str, Any]:
        request = gql(text)
        request.variable_values = variables
        answer: dict[str, Any] = await self.session.execute(request)
        return answer

    async def _austin(self) -> dict[str, Any]:
        answer = await self._ask(PAGE, tenantId=os.environ["CAIRN_TENANT"], slug="austin-texas")
        page: dict[str, Any] = answer["wikiPage"]
        return page

    async def reads(self) -> None:
        """a query with variables, checked against the schema it fetched"""
        page = await self._austin()
        assert page["title"] == "Austin, Texas"
        assert page["sections"]

    async def walks(self) -> None:
        """a connection walked page by page"""
        titles: list[str] = []
        after, more = None, True
        while more:
            found = (await self._ask(PAGES, first=7, after=after))["wikiPages"]
            titles += [edge["node"]["title"] for edge in found["edges"]]
            after, more = found["pageInfo"]["endCursor"], found["pageInfo"]["hasNextPage"]
        assert len(titles) == len(set(titles)) == found["totalCount"] > 14

    async def writes(self) -> None:
        """a mutation with its typed errors"""
        page = await self._austin()
        stale = {"pageId": page["id"], "title": "Elsewhere", "expectedVersion": page["version"] + 7}
        assert (await self._ask(RENAME, input=stale))["updateWikiPage"]["conflict"]["currentVersion"] == page["version"]
        empty = {"pageId": page["id"], "title": ""}
        assert (await self._ask(RENAME, input=empty))["updateWikiPage"]["userErrors"] == [{"field": ["title"]}]

    async def errs(self) -> None:
        """an error with its code"""
        (error,) = await asyncio.gather(self._ask(WRONG), return_exceptions=True)
        assert isinstance(error, TransportQueryError)
        assert error.errors
        assert error.errors[0]["extensions"]["code"] == "BAD_USER_INPUT"

    async def aborts(self) -> None:
        """an abort, and a query after it"""
        request = asyncio.ensure_future(self._ask(PAGES, first=50))
        await asyncio.sleep(0)
        request.cancel()
        (given_up,) = await asyncio.gather(request, return_exceptions=True)
        assert isinstance(given_up, asyncio.CancelledError)
        assert (await self._ask(PAGES, first=1))["wikiPages"]["edges"]

    async def follows(self) -> None:
        """a subscription over a WebSocket"""
        transport = WebsocketsTransport(os.environ["CAIRN_URL"].replace("http", "ws"), init_payload=HEADERS)
        async with Client(transport=transport) as session, asyncio.timeout(20):
            events = session.subscribe(gql(FOLLOWED))
            assert (await anext(events))["wikiScopeChanged"]["kind"] == "RESYNC"
            made = await self._ask(WRITE, input={"type": "TOPIC", "title": "Followed by gql", "bodyMd": "Written."})
            event = (await anext(events))["wikiScopeChanged"]
            assert event["page"] == {"title": "Followed by gql"}
            assert event["version"] == made["upsertWikiPage"]["page"]["version"]
            await events.aclose()


async def main() -> int:
    failed = 0
    async with Client(
        transport=HTTPXAsyncTransport(os.environ["CAIRN_URL"], headers=HEADERS), fetch_schema_from_transport=True
    ) as session:
        application = Application(session)
        for check in (
            application.reads, application.walks, application.writes, application.errs, application.aborts,
            application.follows,
        ):  # fmt: skip
            try:
                await check()
            except Exception as error:
                failed += 1
                print(f"not ok {check.__doc__}: {error!r:.600}")
            else:
                print(f"ok {check.__doc__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
