"""Runs schemathesis on the service, and prints its seed, so that a failure can be reproduced."""

import random
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx

from .programs import ROOT, Check, run

SECONDS = 30  # that one response may take, even on a busy machine
COUNTED = re.compile(r"([\d,]+) generated")
REPEATED = re.compile(r"(.)\1{39,}(?:\n\1{20,})*")  # a text at its limit is a million noughts
SHOWN = 60_000  # characters of a failure


async def check_generated_requests(
    suite: str,
    environment: Mapping[str, str],
    url: str,
    *options: str,
    configuration: str,
    hooks: str,
    examples: int,
) -> list[Check]:
    """Check that `examples` requests for each operation (or as many as CAIRN_FUZZ_EXAMPLES says) pass, and that the
    service answers afterwards.

    `configuration` is a schemathesis.toml in which {NAMES} stand for variables of the environment.
    """
    seed = environment.get("CAIRN_FUZZ_SEED") or str(random.randrange(2**31))
    count = environment.get("CAIRN_FUZZ_EXAMPLES") or str(examples)
    with tempfile.TemporaryDirectory(prefix="cairn-fuzz-") as folder:  # for files that schemathesis writes
        (Path(folder) / "schemathesis.toml").write_text(configuration.format(**environment))
        result = await run(
            *(sys.executable, "-m", "schemathesis.cli", "run", url, *options),
            *("--header", f"Authorization: Bearer {environment['CAIRN_TOKEN']}"),
            *("--seed", seed, "--max-examples", count, "--request-timeout", str(SECONDS)),
            *("--max-response-time", str(SECONDS)),
            *("--generation-database", "none", "--continue-on-failure", "--no-color"),
            patience=3600,
            cwd=Path(folder),
            SCHEMATHESIS_HOOKS=hooks,
            PYTHONPATH=str(ROOT),
            **environment,
        )
    shown = REPEATED.sub(r"\1\1\1…", result.text)[-SHOWN:]
    again = f"To see it again: make conformance ARGS='{suite} --seed {seed} --examples {count}'"
    counted = COUNTED.search(result.text)
    number = counted[1] if counted else "an unknown number of"
    return [
        Check(
            "no failure, and nothing that the contract does not say",
            result.code == 0,
            f"{shown}\n{again}" if result.code else f"{number} requests, seed {seed}",
        ),
        await check_service_answers(environment),
    ]


async def check_service_answers(environment: Mapping[str, str]) -> Check:
    name = "the service answers afterwards"
    headers = {"authorization": f"Bearer {environment['CAIRN_TOKEN']}"}
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        try:
            response = await http.post(environment["CAIRN_URL"], json={"query": "{ viewer { role } }"}, headers=headers)
        except httpx.HTTPError as error:
            return Check(name, False, repr(error))
    passed = response.status_code == 200 and "errors" not in response.json()
    return Check(name, passed, "" if passed else response.text[:500])
