"""The blocks that a read takes depend on its answer, not on the size of the wiki or on other tenants."""

import pytest

from schema.root import GRAPHQL
from tests.plans.cases import CASES
from tests.plans.explain import Planning
from tests.plans.measurements import LARGE, SMALL, Key, Measurement

KEYS = [(name, planning.name, place.pages) for name in CASES for planning in Planning for place in (LARGE, SMALL)]
GROWN = 1.5
DESCENT = 3  # blocks for an object: indexes become deeper, and where a table was small a join went by other ways
DEEPER, FEW = 1.25, 10  # an index has a level more
every_read = pytest.mark.parametrize("key", KEYS, ids=lambda key: "-".join(map(str, key)))


def test_every_field_of_query_has_a_case() -> None:
    assert GRAPHQL.query_type is not None
    # No SQL, what agents called, events, programs and webhooks (nothing here), a whole wiki on purpose, and what "blast
    # radius" asks from its source.
    apart = {"_service", "auditEvents", "wikiConnectedPrograms", "wikiHotIndex", "wikiLint", "wikiSourceBlastRadius",
             "webhooks", "webhookDeliveries"}  # fmt: skip
    assert {case.root for case in CASES.values()} == set(GRAPHQL.query_type.fields) - apart


@every_read
def test_blocks_read_are_bounded_by_the_size_of_the_answer(measurements: dict[Key, Measurement], key: Key) -> None:
    found = measurements[key]
    limit = CASES[found.name].max_blocks(found.objects, found.pages)
    assert found.blocks <= limit, f"{found.objects} objects: {found.costliest_node}"


@every_read
def test_other_tenants_do_not_slow_a_read_down(measurements: dict[Key, Measurement], key: Key) -> None:
    found = measurements[key]
    whole_wiki = CASES[found.name].per_page * found.pages
    limit = max(GROWN * found.before, found.before + DESCENT * found.objects, whole_wiki)
    assert found.blocks <= limit, found.costliest_node


STEADY = [key for key in KEYS if CASES[key[0]].is_steady]


@pytest.mark.parametrize("key", STEADY, ids=lambda key: "-".join(map(str, key)))
def test_steady_reads_keep_their_cost_when_other_tenants_grow(measurements: dict[Key, Measurement], key: Key) -> None:
    """A plan that was chosen for a small table would read the wiki in another order in a large one."""
    found = measurements[key]
    assert found.blocks <= DEEPER * found.before + FEW, found.costliest_node


@every_read
def test_no_read_scans_a_whole_table(measurements: dict[Key, Measurement], key: Key) -> None:
    assert measurements[key].scanned == []


@every_read
def test_reads_use_the_indexes_of_their_case(measurements: dict[Key, Measurement], key: Key) -> None:
    found = measurements[key]
    if found.pages == LARGE.pages:  # in a small wiki another way may be as short
        assert CASES[found.name].indexes <= set(found.indexes), found.costliest_node


@every_read
def test_every_measured_read_returns_objects(measurements: dict[Key, Measurement], key: Key) -> None:
    """A read without results would be fast and prove nothing. There are no compile jobs in this database."""
    assert measurements[key].objects >= (1 if key[0].startswith("jobs") else 2)
