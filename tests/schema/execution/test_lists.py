"""Lists are paged in both directions, without duplicates or gaps."""

from typing import Any

import pytest

from db.relations import pages
from schema.root import GRAPHQL
from selection import Engine
from tests.schema.executing import RecordingContext, query_data


def test_connections_except_searches_are_paged_in_both_directions() -> None:
    """Search results are ranked, and no client pages from the worst result."""
    for type_ in GRAPHQL.type_map.values():
        for name, field in getattr(type_, "fields", {}).items():
            if str(getattr(field, "type", "")).rstrip("!").endswith("Connection"):
                ways = {"first", "after"} if name.startswith("wikiSearch") else {"first", "after", "last", "before"}
                assert ways == {"first", "after", "last", "before"} & set(field.args), f"{type_.name}.{name}"


LISTS = [f"wikiPages(orderBy: {order} %s)" for order in ("TITLE", "UPDATED", "CREATED", "HUBNESS")]
LISTS += ["wikiSources(%s)", "wikiMentions(%s)", "wikiTags(%s)", "wikiOwners(%s)"]


@pytest.mark.parametrize("field", LISTS)
async def test_paging_in_either_direction_returns_each_node_once(
    engine: Engine, context: RecordingContext, field: str
) -> None:
    everything = await walk(engine, context, field, "first", "after", 100)
    assert await walk(engine, context, field, "first", "after", 3) == everything
    assert await walk(engine, context, field, "last", "before", 3) == everything
    assert len(everything) > 1
    assert len({str(node) for node in everything}) == len(everything)


async def test_a_mixed_sort_order_is_paged_in_both_directions(
    engine: Engine, context: RecordingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No order of the product is mixed, as comparing whole rows is faster, but the compiler supports it."""
    mixed = pages.ORDERS | {"hubness": lambda page: (page.c.hubness_score.desc(), page.c.title, page.c.id.desc())}
    monkeypatch.setattr(pages, "ORDERS", mixed)
    await test_paging_in_either_direction_returns_each_node_once(engine, context, LISTS[3])


async def walk(engine: Engine, context: RecordingContext, field: str, size: str, beyond: str, count: int) -> list[Any]:
    shown = "tag" if "Tags" in field else "id"
    info = "pageInfo { startCursor endCursor hasNextPage hasPreviousPage }"
    text = (
        f"query($n: Int, $c: String) {{ list: {field % f'{size}: $n, {beyond}: $c'} {{ nodes {{ {shown} }} {info} }} }}"
    )
    seen: list[Any] = []
    cursor, more = None, True
    while more:
        page = (await query_data(engine, context, text, n=count, c=cursor))["list"]
        seen = [*seen, *page["nodes"]] if size == "first" else [*page["nodes"], *seen]
        cursor = page["pageInfo"]["endCursor" if size == "first" else "startCursor"]
        more = page["pageInfo"]["hasNextPage" if size == "first" else "hasPreviousPage"]
    return seen


async def test_a_limit_above_the_maximum_returns_the_maximum(engine: Engine, context: RecordingContext) -> None:
    """Some mentions have more quotes than the maximum of five."""
    text = "{ wikiMentions(first: 5000) { nodes { contexts(limit: 5000) { quote } } } }"
    found = (await query_data(engine, context, text))["wikiMentions"]["nodes"]
    assert max(len(mention["contexts"]) for mention in found) == 5
