"""Runs schemathesis on GraphQL: hundreds of generated requests for each operation must be answered."""

from collections.abc import Mapping

from .programs import Check
from .schemathesis_runs import check_generated_requests

EXAMPLES = 200
# Most requests use the existing wiki, because in any other wiki there is nothing to be found.
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


async def fuzz(environment: Mapping[str, str]) -> list[Check]:
    """Send 200 requests for each operation, which takes about ten minutes."""
    return await check_generated_requests(
        *("fuzz", environment, environment["CAIRN_URL"]),
        *("--phases", "fuzzing", "--checks", "answered,negative_data_rejection"),
        configuration=CONFIGURATION,
        hooks="tests.conformance.drawing",
        examples=EXAMPLES,
    )
