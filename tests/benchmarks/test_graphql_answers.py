"""Four servers are asked the same, and what they say comes to one shape: else their figures would mean nothing."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import graphql
import pytest

from benchmarks.graphql.answers import SHAPES, Unequal, compare
from benchmarks.graphql.database import PEERS
from benchmarks.graphql.dataloaders.schema import schema as dataloaders
from benchmarks.graphql.floor import by_hand
from benchmarks.graphql.measuring import Place, compared, drawn_from, prepared
from benchmarks.graphql.operations import APART, OPERATIONS, Drawn, candidates, reads, writes
from benchmarks.graphql.recording import NEW_ID, Sent, fresh, kept, save
from benchmarks.graphql.requests import OURS, RECORDED, THEIRS, asked, stored
from benchmarks.graphql.servers import running
from benchmarks.wikis import wiki, write_wikis
from db.ids import new_id
from schema.root import GRAPHQL

WIKIS = [wiki(1, 1, 120, hub=20), wiki(1, 2, 120, hub=20)]
SERVERS = ("floor", "cairn", "strawberry")


def test_floor_cairn_and_dataloaders_answer_the_same(dsn: str, tmp_path: Path) -> None:
    """Over HTTP, from processes of their own; PostGraphile is compared when it is measured, as it needs npm."""

    async def fill() -> int:
        await write_wikis(dsn, WIKIS)
        connection = await asyncpg.connect(dsn)
        try:
            if connection.get_server_version().major >= 18:
                await connection.execute(PEERS)
            return int(connection.get_server_version().major)
        finally:
            await connection.close()

    if asyncio.run(fill()) < 18:
        pytest.skip("The peers make ids with PostgreSQL 18's uuidv7().")
    requests = {
        name: drawn[: 2 * APART if name == "link" else 12]
        for name, drawn in asyncio.run(drawn_from(dsn, WIKIS, OPERATIONS)).items()
    }
    for nothing in ("qqqqqqqq", "?"):
        variables = {"tenant": str(WIKIS[0].tenant_id), "query": nothing}
        requests["search"].append(Drawn("search", WIKIS[0], variables))
    recorded = tmp_path / "recorded"
    save(recorded, asyncio.run(prepared(dsn, requests, SERVERS)))
    with running(SERVERS, dsn, tmp_path, 2, recorded) as servers:
        asyncio.run(compared(Place(dsn, tmp_path, servers), requests))


@pytest.mark.parametrize("name", OURS)
def test_a_document_is_of_the_contract_and_of_the_dataloaders(name: str) -> None:
    document = graphql.parse(OURS[name])
    assert graphql.validate(GRAPHQL, document) == []
    assert graphql.validate(dataloaders._schema, document) == []


def test_every_document_has_its_like_in_postgraphile() -> None:
    assert OURS.keys() == THEIRS.keys()
    assert by_hand().keys() | set(RECORDED) == set(OPERATIONS)


def test_postgraphiles_lists_are_plain_and_its_texts_are_enums() -> None:
    theirs = {
        "wikiPage": {
            "title": "Austin",
            "sections": {"nodes": [{"heading": "Food"}]},
            "aliases": {"nodes": [{"alias": "atx"}, {"alias": "austin"}]},
            "backlinks": {"nodes": [{"title": "Texas"}]},
        }
    }
    assert SHAPES["postgraphile"]("page", theirs) == {
        "wikiPage": {
            "title": "Austin",
            "sections": [{"heading": "Food"}],
            "aliases": ["atx", "austin"],
            "backlinks": {"nodes": [{"title": "Texas"}]},
        }
    }


def test_the_middle_of_postgraphiles_neighbourhood_is_a_page_of_its_own() -> None:
    theirs = {
        "wikiNeighbourhood": {
            "id": "1",
            "title": "A",
            "nodes": {"nodes": []},
            "edges": {"nodes": [{"kind": "reference"}]},
        }
    }
    assert SHAPES["postgraphile"]("graph", theirs) == {
        "wikiNeighbourhood": {"page": {"id": "1", "title": "A"}, "nodes": [], "edges": [{"kind": "REFERENCE"}]}
    }


def test_a_page_that_is_not_there_is_none_for_all() -> None:
    nothing: dict[str, Any] = {"data": {"wikiNeighbourhood": None}}
    compare("postgraphile", "graph", nothing, nothing)


def test_the_floor_passes_on_the_page_of_a_write() -> None:
    ours = {"data": {"unlinkWikiPages": {"page": {"id": "1"}}}}
    compare("floor", "unlink", {"data": {"id": "1"}}, ours)


def test_other_data_and_errors_are_unequal() -> None:
    ours = {"data": {"wikiPage": {"title": "A"}}}
    with pytest.raises(Unequal, match="differ"):
        compare("floor", "page", {"data": {"wikiPage": {"title": "B"}}}, ours)
    with pytest.raises(Unequal, match="floor answers with errors"):
        compare("floor", "page", {"data": None, "errors": [{"message": "too many clients"}]}, ours)


def test_each_link_is_undone_when_those_under_way_are_through() -> None:
    pairs = candidates(WIKIS, 3 * APART)
    drawn = writes(pairs)
    ends = [(one.document, *one.variables["input"].values()) for one in drawn]
    for pair in pairs:
        link, unlink = (ends.index((name, str(pair.start), str(pair.end))) for name in ("link", "unlink"))
        assert unlink - link == APART


def test_the_same_requests_are_drawn_each_time() -> None:
    assert reads("page", WIKIS) == reads("page", WIKIS)
    assert len({str(one.variables) for one in reads("list", WIKIS)}) == 10


def test_a_request_is_whole_http() -> None:
    page = reads("page", WIKIS)[0]
    (wire,) = [one.wire() for one in asked("strawberry", "page", [page])]
    head, _, body = wire.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /graphql HTTP/1.1\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert f"x-owner: {page.wiki.owner_id}".encode() in head


def test_variables_are_stored_without_enums_and_nesting() -> None:
    (link, *_) = writes(candidates(WIKIS, 1))
    assert stored(link) == {
        "tenant": str(link.wiki.tenant_id),
        "owner": str(link.wiki.owner_id),
        "from": link.variables["input"]["fromPageId"],
        "to": link.variables["input"]["toPageId"],
    }
    assert stored(reads("page", WIKIS)[0])["type"].islower()


def test_a_write_that_is_sent_again_makes_ids_of_its_own() -> None:
    page, made = WIKIS[0].page(1), new_id()
    values = tuple(map(kept, (page, [made], "manual")))
    assert values == (page, [NEW_ID], "manual")
    sent = Sent.noted(False, False, "", (page, [made], "manual"))
    (first, second, reason), (_, other, _) = (sent.arguments() for _ in range(2))
    assert (first, reason) == (page, "manual")
    assert second != other
    assert len(second) == 1
    assert fresh("manual") == "manual"
