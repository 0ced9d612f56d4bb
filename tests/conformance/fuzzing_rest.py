"""schemathesis on the REST API, with all of its checks: what the contract says is what is answered."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .fuzzing import SECONDS, answers, told
from .running import HERE, Check, run

EXAMPLES = 100
# Most requests are made of pages that are there, in their own wiki, and without a condition that cannot hold.
# What a schema cannot say is refused with 409 and 422 (a slug that is taken, a cursor of another list), and the state
# of things with 403, 404, 410 and 412: these are allowed for a request that fits the schema. No 5xx ever is.
CONFIGURATION = """
hooks = "{hooks}"
[dictionaries.slugs]
values = ["austin-texas", "lisbon", "kissaten", "paula-reis", "nobody"]
[dictionaries.owners]
values = ["{CAIRN_OWNER}"]
[dictionaries.tags]
values = ["*"]
[parameters]
"path.slug" = {{ dictionary = "slugs", probability = 0.8 }}
"header.X-Cairn-Owner" = {{ dictionary = "owners", probability = 0.95 }}
"header.If-Match" = {{ dictionary = "tags", probability = 0.8 }}
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "403", "404", "409", "410", "412", "422", "429"]
"""


async def fuzz_rest(environment: Mapping[str, str]) -> list[Check]:
    """Examples, boundaries, a hundred generated requests for each operation, and chains of requests."""
    url, bearer = environment["CAIRN_URL"], f"Bearer {environment['CAIRN_TOKEN']}"
    with tempfile.TemporaryDirectory(prefix="cairn-fuzz-") as folder:  # where it may leave its notes
        (Path(folder) / "schemathesis.toml").write_text(
            CONFIGURATION.format(hooks=HERE / "rest_bodies.py", **environment)
        )
        said = await run(
            *(sys.executable, "-m", "schemathesis.cli", "run", url.replace("/graphql", "/api/wiki/openapi.json")),
            *("--header", f"Authorization: {bearer}", "--checks", "all", "--max-examples", str(EXAMPLES)),
            *("--request-timeout", str(SECONDS), "--generation-database", "none"),
            *("--continue-on-failure", "--no-color"),
            patience=3600,
            cwd=Path(folder),
        )
    return [
        Check("no failure, and nothing that the contract does not say", said.code == 0, told(said.text, said.code)),
        await answers(url, bearer),
    ]
