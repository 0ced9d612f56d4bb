"""The clients that were written for the API before this one, as seed 002 describes them: mobile, web and command line.

Each sends its own documents and compares the same strings as before. Only the URL is new to them.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from tests.app.service import Service

URL = "/graphql/v0"
OVER = {"succeeded", "failed", "cancelled", "skipped"}
ASKED_FOR = {
    "memory_retain": "a memory",
    "bootstrap_import": "an import",
    "admin": "an admin",
    "lint": "the nightly sweep",
}

CARD = "id type slug title summary"
MOBILE = {
    "search": f"""query ($userId: ID, $query: String!, $limit: Int) {{
        mobileWikiSearch(userId: $userId, query: $query, limit: $limit) {{
            score matchingMemoryIds page {{ {CARD} lastCompiledAt updatedAt }} }} }}""",
    "recent": f"""query ($userId: ID, $limit: Int) {{
        recentWikiPages(userId: $userId, limit: $limit) {{ {CARD} lastCompiledAt updatedAt }} }}""",
    "page": f"""query ($tenantId: ID!, $userId: ID, $type: WikiPageType!, $slug: String!) {{
        wikiPage(tenantId: $tenantId, userId: $userId, type: $type, slug: $slug) {{
            {CARD} bodyMd status lastCompiledAt updatedAt aliases sourceMemoryCount
            sections {{ id sectionSlug heading bodyMd position lastSourceAt }}
            parent {{ id type slug title }} children {{ {CARD} }}
            promotedFromSection {{ sectionSlug sectionHeading parentPage {{ id type slug title }} }} }} }}""",
    "memories": """query ($tenantId: ID!, $userId: ID, $type: WikiPageType!, $slug: String!, $limit: Int) {
        wikiPage(tenantId: $tenantId, userId: $userId, type: $type, slug: $slug) {
            sourceMemoryIds(limit: $limit) } }""",
    "section": f"""query ($tenantId: ID!, $userId: ID, $type: WikiPageType!, $slug: String!, $section: String!) {{
        wikiPage(tenantId: $tenantId, userId: $userId, type: $type, slug: $slug) {{
            sectionChildren(sectionSlug: $section) {{ {CARD} }} }} }}""",
    "backlinks": f"query ($pageId: ID!) {{ wikiBacklinks(pageId: $pageId) {{ {CARD} }} }}",
    "connected": f"query ($pageId: ID!) {{ wikiConnectedPages(pageId: $pageId) {{ {CARD} }} }}",
    "graph": """query ($tenantId: ID!, $userId: ID) { wikiGraph(tenantId: $tenantId, userId: $userId) {
        nodes { id label type entityType slug strategy edgeCount latestThreadId }
        edges { source target label weight kind } } }""",
}
WEB = {
    "search": f"""query ($tenantId: ID!, $ownerId: ID, $query: String!, $limit: Int) {{
        wikiSearch(tenantId: $tenantId, ownerId: $ownerId, query: $query, limit: $limit) {{
            score matchedAlias page {{ {CARD} status aliases }} }} }}""",
    "around": f"""query ($pageId: ID!) {{
        backlinks: wikiBacklinks(pageId: $pageId) {{ {CARD} status aliases }}
        connected: wikiConnectedPages(pageId: $pageId) {{ {CARD} status aliases }} }}""",
}
CLI = {
    "jobs": """query ($tenantId: ID!, $ownerId: ID, $limit: Int) {
        wikiCompileJobs(tenantId: $tenantId, ownerId: $ownerId, limit: $limit) {
            id tenantId ownerId userId status trigger dedupeKey attempt claimedAt startedAt finishedAt error metrics
            createdAt } }""",
    "compile": """mutation ($tenantId: ID!, $ownerId: ID!, $modelId: String) {
        compileWikiNow(tenantId: $tenantId, ownerId: $ownerId, modelId: $modelId) {
            id tenantId ownerId status trigger dedupeKey attempt createdAt } }""",
    "reset": """mutation ($tenantId: ID!, $ownerId: ID!, $force: Boolean) {
        resetWikiCursor(tenantId: $tenantId, ownerId: $ownerId, force: $force) {
            tenantId ownerId userId cursorCleared pagesArchived } }""",
    "import": """mutation ($accountId: ID!, $tenantId: ID!, $userId: ID, $limit: Int) {
        bootstrapJournalImport(accountId: $accountId, tenantId: $tenantId, userId: $userId, limit: $limit) {
            accountId tenantId userId agentId dispatched dispatchedAt error } }""",
}


class OlderClient(NamedTuple):
    """The common part of all three clients: an endpoint, a credential, and the tenant and user that they send."""

    service: Service
    token: str
    tenant_id: str
    user_id: str

    async def ask(self, text: str, **variables: Any) -> Any:
        """Return the value of the only field, or all fields if there are several."""
        body = {"query": text, "variables": {"tenantId": self.tenant_id, "ownerId": self.user_id} | variables}
        response = await self.service.http.post(URL, json=body, headers={"authorization": f"Bearer {self.token}"})
        answer = response.json()
        assert response.status_code == 200, answer
        assert "errors" not in answer, answer
        data = answer["data"]
        return next(iter(data.values())) if len(data) == 1 else data

    # -- the mobile app

    async def open_page(self, type: str, slug: str) -> str | None:
        """Return what the screen shows, or None for a page that does not exist or is archived."""
        page = await self.ask(MOBILE["page"], userId=self.user_id, type=type, slug=slug)
        if page is None or page["status"] != "active":
            return None
        connected = await self.ask(MOBILE["connected"], pageId=page["id"])
        backlinks = await self.ask(MOBILE["backlinks"], pageId=page["id"])
        lines = [page["title"], f"based on {page['sourceMemoryCount']} memories"]
        lines += [f"> {other['title']}" for other in connected] + [f"< {other['title']}" for other in backlinks]
        return "\n".join(lines)

    async def draw(self) -> set[tuple[str, str, bool]]:
        """Return each line of the drawing: the titles of its ends, and whether it is dashed as a hierarchy."""
        graph = await self.ask(MOBILE["graph"], userId=self.user_id)
        names = {node["id"]: node["label"] for node in graph["nodes"] if node["type"] == "page"}
        return {(names[edge["source"]], names[edge["target"]], edge["kind"] != "reference") for edge in graph["edges"]}

    # -- the web app

    async def find(self, query: str) -> list[str]:
        """Return the titles of the active pages among the hits."""
        hits = await self.ask(WEB["search"], query=query, limit=None)
        return [hit["page"]["title"] for hit in hits if hit["page"]["status"] == "active"]

    # -- the command line

    async def jobs(self, *, whole_tenant: bool = False, limit: int = 10) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.ask(
            CLI["jobs"], ownerId=None if whole_tenant else self.user_id, limit=limit
        )
        return found

    async def status(self) -> list[tuple[str, str, str, str]]:
        """Return the table of `wiki status`: status, trigger, records read and pages written."""
        return [
            (
                job["status"],
                ASKED_FOR.get(job["trigger"], "?"),
                shown(job, "records_read"),
                shown(job, "pages_upserted"),
            )
            for job in await self.jobs(whole_tenant=True)
        ]

    async def compile(self, between: Callable[[], Awaitable[Any]]) -> int:
        """Run `wiki compile --watch` and return its exit code."""
        job = await self.ask(CLI["compile"], modelId=None)
        return await self.watch(job["id"], between)

    async def rebuild(self, between: Callable[[], Awaitable[Any]]) -> tuple[int, int]:
        """Run `wiki rebuild --watch` and return how many pages were archived, and its exit code."""
        reset = await self.ask(CLI["reset"], force=True)
        return reset["pagesArchived"], await self.compile(between)

    async def watch(self, job_id: str, between: Callable[[], Awaitable[Any]]) -> int:
        """Return 0 if the job succeeded, 1 if it ended otherwise, 2 if it did not end in time."""
        for _ in range(20):
            job = next(job for job in await self.jobs(limit=5) if job["id"] == job_id)
            if job["status"] in OVER:
                return 0 if job["status"] == "succeeded" else 1
            await between()
        return 2


def shown(job: dict[str, Any], name: str) -> str:
    """Return a metric as the table shows it."""
    value = job["metrics"].get(name) if isinstance(job["metrics"], dict) else None
    return "-" if value is None else str(value)
