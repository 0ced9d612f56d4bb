"""Lists are paged both ways, and nothing is met twice or missed."""

from typing import Any

import pytest

from db.relations import pages
from schema.root import GRAPHQL
from selection import Engine
from tests.schema.asking import Recorder, data


def test_every_connection_is_paged_both_ways_but_a_search() -> None:
    """Results are ranked from the best on: nobody starts at the worst."""
    for type_ in GRAPHQL.type_map.values():
        for name, field in getattr(type_, "fields", {}).items():
            if str(getattr(field, "type", "")).rstrip("!").endswith("Connection"):
                ways = {"first", "after"} if name.startswith("wikiSearch") else {"first", "after", "last", "before"}
                assert ways == {"first", "after", "last", "before"} & set(field.args), f"{type_.name}.{name}"


LISTS = [f"wikiPages(orderBy: {order} %s)" for order in ("TITLE", "UPDATED", "CREATED", "HUBNESS")]
LISTS += ["wikiSources(%s)", "wikiMentions(%s)", "wikiTags(%s)", "wikiOwners(%s)"]


@pytest.mark.parametrize("field", LISTS)
async def test_walking_either_way_meets_everything_once(engine: Engine, context: Recorder, field: str) -> None:
    everything = await walk(engine, context, field, "first", "after", 100)
    assert await walk(engine, context, field, "first", "after", 3) == everything
    assert await walk(engine, context, field, "last", "before", 3) == everything
    assert len(everything) > 1
    assert len({str(node) for node in everything}) == len(everything)


async def test_an_order_of_both_directions_is_walked_too(
    engine: Engine, context: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of ours is, as a comparison of whole rows is quicker; the compiler can."""
    mixed = pages.ORDERS | {"hubness": lambda page: (page.c.hubness_score.desc(), page.c.title, page.c.id.desc())}
    monkeypatch.setattr(pages, "ORDERS", mixed)
    await test_walking_either_way_meets_everything_once(engine, context, LISTS[3])


async def walk(engine: Engine, context: Recorder, field: str, size: str, beyond: str, count: int) -> list[Any]:
    shown = "tag" if "Tags" in field else "id"
    info = "pageInfo { startCursor endCursor hasNextPage hasPreviousPage }"
    text = (
        f"query($n: Int, $c: String) {{ list: {field % f'{size}: $n, {beyond}: $c'} {{ nodes {{ {shown} }} {info} }} }}"
    )
    seen: list[Any] = []
    cursor, more = None, True
    while more:
        page = (await data(engine, context, text, n=count, c=cursor))["list"]
        seen = [*seen, *page["nodes"]] if size == "first" else [*page["nodes"], *seen]
        cursor = page["pageInfo"]["endCursor" if size == "first" else "startCursor"]
        more = page["pageInfo"]["hasNextPage" if size == "first" else "hasPreviousPage"]
    return seen


async def test_more_than_the_most_gives_the_most(engine: Engine, context: Recorder) -> None:
    """Some mentions hold more quotes than the five that are shown."""
    text = "{ wikiMentions(first: 5000) { nodes { contexts(limit: 5000) { quote } } } }"
    found = (await data(engine, context, text))["wikiMentions"]["nodes"]
    assert max(len(mention["contexts"]) for mention in found) == 5
