"""Defines the suites: their names, what they run, and in which versions."""

import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version as installed
from typing import NamedTuple

from .agents import agents
from .fuzzing import fuzz
from .fuzzing_rest import fuzz_rest
from .guide import follow_guide
from .packages import version
from .programs import HERE, ROOT, Check, check_exit_code, lines, run

Environment = Mapping[str, str]
BUILD = HERE / "build"
REPORTED = re.compile(r"^(PASSED|FAILED|ERROR) (\S+::.+?)(?: - .*)?$", re.MULTILINE)
SKIPPED = re.compile(r"^SKIPPED \[\d+\] (.+)$", re.MULTILINE)


class Suite(NamedTuple):
    """A suite. `packages` are from npm, or from PyPI if they begin with "python "."""

    about: str
    packages: tuple[str, ...]
    run: Callable[[Environment], Awaitable[list[Check]]]

    def versions(self) -> str:
        return ", ".join(
            f"{name[7:]} {installed(name[7:])}" if name.startswith("python ") else version(name)
            for name in self.packages
        )


def script(path: str) -> Callable[[Environment], Awaitable[list[Check]]]:
    return lambda environment: lines("node", path, environment=environment)


def tool(name: str) -> str:
    return str(HERE / "node_modules" / ".bin" / name)


async def gql(environment: Environment) -> list[Check]:
    found = environment | {"PYTHONPATH": str(ROOT)}
    return await lines(sys.executable, "gql_client.py", environment=found)


async def documents(environment: Environment) -> list[Check]:
    """Run the checks of Relay and typed documents. Each step needs the files of the step before it."""
    shutil.rmtree(BUILD, ignore_errors=True)
    (BUILD / "relay").mkdir(parents=True)
    (BUILD / "relay-documents.json").write_text("{}")  # relay-compiler adds to it
    (BUILD / "package.json").write_text('{"type": "commonjs"}')
    checks = [
        await check_exit_code("relay-compiler compiles", tool("relay-compiler")),
        await check_exit_code("graphql-codegen generates", tool("graphql-codegen"), "--config", "codegen.yml"),
        await check_exit_code("tsc --strict is content", tool("tsc"), "--project", "."),
    ]
    if all(check.passed for check in checks):
        checks += await lines("node", "documents.mjs", environment=environment)
    return checks


async def lint(environment: Environment) -> list[Check]:
    config = ("--config", "tests/conformance/eslint.config.mjs", "--max-warnings", "0")
    return [
        await check_exit_code(f"no error in {path}", tool("eslint"), *config, path, cwd=ROOT)
        for path in ("schema/schema.graphql", "tests/conformance/codegen")
    ]


READER_FILES = (
    "tests/app/web/test_web_axe.py", "tests/app/web/test_web_axe_pages.py", "tests/app/web/test_web_oidc_provider.py",
)  # fmt: skip


async def read(environment: Environment) -> list[Check]:
    """Run the browser tests that need npm packages: each is a check, and a skipped test reports its reason."""
    wanted = ("-n0", "-q", "-rA", "--no-header", "-k", "axe or real", *READER_FILES)
    result = await run(sys.executable, "-m", "pytest", *wanted, cwd=ROOT, patience=1_200)
    checks = [Check(name, kind == "PASSED") for kind, name in REPORTED.findall(result.text)]
    skipped = [Check(reason, True, f"skipped: {reason}") for reason in SKIPPED.findall(result.text)]
    return checks + skipped if result.code == 0 else [*checks, Check("pytest", False, result.text[-2000:])]


SUITES = {
    "http": Suite("GraphQL over HTTP, audited", ("graphql-http",), script("audit.mjs")),
    "apollo": Suite("Apollo Client", ("@apollo/client",), script("clients/apollo.mjs")),
    "urql": Suite("urql", ("@urql/core",), script("clients/urql.mjs")),
    "graphql-request": Suite("graphql-request", ("graphql-request",), script("clients/graphql-request.mjs")),
    "gql": Suite("gql for Python", ("python gql",), gql),
    "subscriptions": Suite(
        "WebSockets and server-sent events", ("graphql-ws", "graphql-sse"), script("clients/subscriptions.mjs")
    ),
    "documents": Suite(
        "Relay and typed documents",
        ("relay-compiler", "relay-runtime", "@graphql-codegen/client-preset", "typescript"),
        documents,
    ),
    "guide": Suite(
        "The guide for web apps, followed in an empty folder",
        ("@graphql-codegen/client-preset", "@types/node", "typescript"),
        follow_guide,
    ),
    "lint": Suite("graphql-eslint", ("@graphql-eslint/eslint-plugin",), lint),
    "federation": Suite(
        "A subgraph of Apollo Federation",
        ("@apollo/composition", "@theguild/federation-composition", "@apollo/gateway"),
        script("federation/run.mjs"),
    ),
    "mcp": Suite(
        "Tools for agents, over the Model Context Protocol",
        ("@modelcontextprotocol/inspector", "@modelcontextprotocol/conformance"),
        agents,
    ),
    "mcp-clients": Suite(
        "The MCP clients for TypeScript, let in by OAuth",
        ("@modelcontextprotocol/client", "@modelcontextprotocol/sdk"),
        script("clients/mcp.mjs"),
    ),
    "reader": Suite("The reader for everybody, and signing in to it", ("axe-core", "oidc-provider"), read),
    "rest": Suite("schemathesis on REST", ("python schemathesis",), fuzz_rest),  # it writes as well
    "fuzz": Suite("schemathesis", ("python schemathesis",), fuzz),  # last: it writes whatever it can
}
