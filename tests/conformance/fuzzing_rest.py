"""Runs schemathesis on the REST API with all of its checks: the responses must match the contract."""

from collections.abc import Mapping

from .programs import Check
from .schemathesis_runs import check_generated_requests

EXAMPLES = 100
# Most requests use existing pages, and no condition that cannot hold. What a schema cannot express is refused with 409
# and 422 (a slug that is taken, a cursor of another list), and the state of a resource with 403, 404, 410 and 412:
# these are allowed for a request that fits the schema. A request that does not fit may also be too large to be read
# (413). A 5xx is never allowed.
CONFIGURATION = """
[dictionaries.slugs]
values = ["austin-texas", "lisbon", "kissaten", "paula-reis", "{CAIRN_SLUG}", "nobody"]
[dictionaries.tags]
values = ["*"]
[dictionaries.words]
values = ["the", "a", ". ", "coffee"]
[parameters]
"path.slug" = {{ dictionary = "slugs", probability = 0.8 }}
"header.If-Match" = {{ dictionary = "tags", probability = 0.8 }}
"body.old_text" = {{ dictionary = "words", probability = 0.5 }}
"body.into" = {{ dictionary = "slugs", probability = 0.8 }}
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "403", "404", "409", "410", "412", "422", "429"]
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "429"]
# A slug may be of several pages, each of another type: one that is left answers after another was deleted.
[checks.use_after_free]
enabled = false
# The example in the contract is text, and schemathesis sends only bytes where uploads are drawn by hooks.
[[operations]]
include-name = "POST /import"
phases.examples.enabled = false
"""


async def fuzz_rest(environment: Mapping[str, str]) -> list[Check]:
    """Send examples, boundary values, a hundred generated requests for each operation, and chains of requests."""
    return await check_generated_requests(
        *("rest", environment, environment["CAIRN_URL"].replace("/graphql", "/api/wiki/openapi.json")),
        *("--checks", "all"),
        configuration=CONFIGURATION,
        hooks="tests.conformance.drawing_rest",
        examples=EXAMPLES,
    )
