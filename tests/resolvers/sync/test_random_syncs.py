"""Whatever people do to a folder and its wiki, no sync loses a text, the wiki loses none, and both become equal."""

from pathlib import Path
from random import Random

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.resolvers.sync.synced_pair import FOLDER, PAGE, SyncedPair
from tests.wiki import Wiki

OPERATIONS = st.lists(st.sampled_from((*FOLDER, *PAGE, "sync")), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS, st.integers(0, 1_000))
@example(["write", "edit", "sync", "write"], 655)  # a person overwrites a file whose conflict is open
@example(["write", "edit", "sync", "edit"], 655)
async def test_no_text_is_lost_in_any_order_of_operations(
    wiki: Wiki, tmp_path: Path, operations: list[str], seed: int
) -> None:
    own = await wiki.neighbour()
    synced = SyncedPair(own, tmp_path / str(own.scope.owner_id), Random(seed))
    stored = set[str]()
    for operation in operations:
        if operation == "sync":
            before = await synced.all_marks()
            await synced.sync()
            assert before <= await synced.all_marks()
        else:
            await synced.run_operation(operation)
        stored |= await synced.marks_in_history()
    await synced.sync_to_the_end(stored | synced.marks_in_files())
