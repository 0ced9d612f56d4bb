"""schemathesis: hundreds of generated requests for each operation; the service answers each of them, and the next."""

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx

from .running import ROOT, Check, run

EXAMPLES = 200
SECONDS = 30  # that one answer may take, on a busy machine too
# Most requests are made inside of the wiki that is there: outside there is nothing to be found.
CONFIGURATION = """
[dictionaries.tenants]
values = ["{CAIRN_TENANT}"]
[dictionaries.owners]
values = ["{CAIRN_OWNER}"]
[parameters]
"*.*.tenantId" = {{ dictionary = "tenants", probability = 0.95 }}
"*.*.ownerId" = {{ dictionary = "owners", probability = 0.95 }}
"*.*.userId" = {{ dictionary = "owners", probability = 0.95 }}
"*.*.agentId" = {{ dictionary = "owners", probability = 0.95 }}
"*.*.input.tenantId" = {{ dictionary = "tenants", probability = 0.95 }}
"*.*.input.ownerId" = {{ dictionary = "owners", probability = 0.95 }}
"""
COUNTED = re.compile(r"([\d,]+) generated")


async def fuzz(environment: Mapping[str, str]) -> list[Check]:
    """200 requests for each operation, which takes about ten minutes."""
    url, bearer = environment["CAIRN_URL"], f"Bearer {environment['CAIRN_TOKEN']}"
    with tempfile.TemporaryDirectory(prefix="cairn-fuzz-") as folder:  # where it may leave its notes
        (Path(folder) / "schemathesis.toml").write_text(CONFIGURATION.format(**environment))
        said = await run(
            *(sys.executable, "-m", "schemathesis.cli", "run", url),
            *("--header", f"Authorization: {bearer}", "--max-examples", str(EXAMPLES), "--phases", "fuzzing"),
            *("--checks", "answered,negative_data_rejection", "--request-timeout", str(SECONDS)),
            *("--generation-database", "none", "--continue-on-failure", "--no-color"),
            patience=3600,
            cwd=Path(folder),
            SCHEMATHESIS_HOOKS="tests.conformance.drawing",
            PYTHONPATH=str(ROOT),
            **environment,
        )
    return [
        Check("no failure, and no answer that is not GraphQL", said.code == 0, told(said.text, said.code)),
        await answers(url, bearer),
    ]


def told(text: str, code: int) -> str:
    counted = COUNTED.search(text)
    return text[-6000:] if code else f"{counted[1] if counted else 'an unknown number of'} requests"


async def answers(url: str, bearer: str) -> Check:
    name = "the service answers afterwards"
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        try:
            response = await http.post(url, json={"query": "{ viewer { role } }"}, headers={"authorization": bearer})
        except httpx.HTTPError as error:
            return Check(name, False, repr(error))
    passed = response.status_code == 200 and "errors" not in response.json()
    return Check(name, passed, "" if passed else response.text[:500])
