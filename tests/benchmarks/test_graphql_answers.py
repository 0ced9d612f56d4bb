"""All benchmarked servers get the same requests and give equal answers, so that their figures are comparable."""

import asyncio
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import graphql
import pytest

from benchmarks.graphql.answers import SHAPES, Unequal, compare
from benchmarks.graphql.baseline import handwritten_statements
from benchmarks.graphql.database import PEERS
from benchmarks.graphql.dataloaders.schema import schema as dataloaders
from benchmarks.graphql.measuring import Place, compare_answers, draw_requests, record_statements
from benchmarks.graphql.operations import LINK_DISTANCE, OPERATIONS, READS, Drawn, candidates, draw_reads, draw_writes
from benchmarks.graphql.recording import NEW_ID, SentStatement, fill_new_ids, mark_new_ids, save
from benchmarks.graphql.requests import OURS, REPLAYED, THEIRS, build_requests, flat_variables
from benchmarks.graphql.servers import running
from benchmarks.graphql.wrk import Source, load
from benchmarks.wikis import wiki, write_wikis
from db.ids import new_id
from schema.root import GRAPHQL

WIKIS = [wiki(1, 1, 120, hub=20), wiki(1, 2, 120, hub=20)]
SERVERS = ("baseline", "cairn", "strawberry")


def test_baseline_cairn_and_dataloaders_answer_the_same(dsn: str, tmp_path: Path) -> None:
    """The servers run in their own processes; PostGraphile is compared when it is measured, because it needs npm."""

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
        name: drawn[: 2 * LINK_DISTANCE if name == "link" else 12]
        for name, drawn in asyncio.run(draw_requests(dsn, WIKIS, OPERATIONS)).items()
    }
    for nothing in ("qqqqqqqq", "?"):
        variables = {"tenant": str(WIKIS[0].tenant_id), "query": nothing}
        requests["search"].append(Drawn("search", WIKIS[0], variables))
    recorded = tmp_path / "recorded"
    save(recorded, asyncio.run(record_statements(dsn, requests, SERVERS)))
    with running(SERVERS, dsn, tmp_path, 2, recorded) as servers:
        asyncio.run(compare_answers(Place(dsn, tmp_path, servers), requests))


@pytest.mark.parametrize("name", OURS)
def test_documents_are_valid_for_cairn_and_for_the_dataloaders(name: str) -> None:
    document = graphql.parse(OURS[name])
    assert graphql.validate(GRAPHQL, document) == []
    assert graphql.validate(dataloaders._schema, document) == []


def test_documents_have_postgraphile_and_baseline_counterparts() -> None:
    assert OURS.keys() == THEIRS.keys()
    assert handwritten_statements().keys() | set(REPLAYED) == set(OPERATIONS)


def test_postgraphile_sections_and_aliases_become_plain_lists() -> None:
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


def test_postgraphile_neighbourhoods_get_a_page_object_and_enum_kinds() -> None:
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


def test_missing_pages_compare_as_equal() -> None:
    nothing: dict[str, Any] = {"data": {"wikiNeighbourhood": None}}
    compare("postgraphile", "graph", nothing, nothing)


def test_baseline_writes_are_compared_by_the_page_they_return() -> None:
    ours = {"data": {"unlinkWikiPages": {"page": {"id": "1"}}}}
    compare("baseline", "unlink", {"data": {"id": "1"}}, ours)


def test_different_data_and_errors_raise_unequal() -> None:
    ours = {"data": {"wikiPage": {"title": "A"}}}
    with pytest.raises(Unequal, match="differ"):
        compare("baseline", "page", {"data": {"wikiPage": {"title": "B"}}}, ours)
    with pytest.raises(Unequal, match="baseline answers with errors"):
        compare("baseline", "page", {"data": None, "errors": [{"message": "too many clients"}]}, ours)


def test_each_link_is_removed_a_fixed_distance_after_its_creation() -> None:
    pairs = candidates(WIKIS, 3 * LINK_DISTANCE)
    drawn = draw_writes(pairs)
    ends = [(request.document, *request.variables["input"].values()) for request in drawn]
    for pair in pairs:
        link, unlink = (ends.index((name, str(pair.start), str(pair.end))) for name in ("link", "unlink"))
        assert unlink - link == LINK_DISTANCE


@pytest.mark.parametrize("name", READS)
def test_reads_are_drawn_from_the_whole_wiki_and_never_repeat(name: str) -> None:
    drawn = draw_reads(name, WIKIS)
    assert drawn == draw_reads(name, WIKIS)
    assert len({(read.wiki, str(read.variables)) for read in drawn}) == len(drawn)
    assert {read.wiki for read in drawn} == {*WIKIS}
    if name in ("page", "graph"):
        assert len(drawn) == sum(wiki.pages * 19 // 20 for wiki in WIKIS)


def test_each_load_starts_at_the_next_batch_and_wraps_around(tmp_path: Path) -> None:
    source = Source(tmp_path / "requests", batch=4)
    source.write(build_requests("strawberry", "page", draw_reads("page", WIKIS)[:13]))
    starts = []
    for sent in (3, 4, 1):
        starts.append(source.start)
        source.advance(sent)
    assert starts == [0, 4, 8]
    assert source.start == 0


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
async def test_every_request_of_wrk_has_its_own_traceparent(tmp_path: Path) -> None:
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head)[0]))
                heads.append(head)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    source = Source(tmp_path / "requests")
    source.write(build_requests("strawberry", "page", draw_reads("page", WIKIS)[:2]))
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for _ in range(2):
            await load(f"http://127.0.0.1:{port}", source, 2, 1)
    found = [re.findall(rb"\r\ntraceparent: (00-[0-9a-f]{32}-[0-9a-f]{16}-01)\r\n", head) for head in heads]
    assert {len(parents) for parents in found} == {1}
    assert len({parents[0] for parents in found}) == len(heads) > 2


def test_built_requests_are_complete_http_requests() -> None:
    page = draw_reads("page", WIKIS)[0]
    (wire,) = [one.wire() for one in build_requests("strawberry", "page", [page])]
    head, _, body = wire.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /graphql HTTP/1.1\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert f"x-owner: {page.wiki.owner_id}".encode() in head


def test_flat_variables_have_no_nesting_and_lowercase_enums() -> None:
    (link, *_) = draw_writes(candidates(WIKIS, 1))
    assert flat_variables(link) == {
        "tenant": str(link.wiki.tenant_id),
        "owner": str(link.wiki.owner_id),
        "from": link.variables["input"]["fromPageId"],
        "to": link.variables["input"]["toPageId"],
    }
    assert flat_variables(draw_reads("page", WIKIS)[0])["type"].islower()


def test_replayed_writes_get_new_ids() -> None:
    page, created_id = WIKIS[0].page(1), new_id()
    values = tuple(map(mark_new_ids, (page, [created_id], "manual")))
    assert values == (page, [NEW_ID], "manual")
    sent = SentStatement.of_query(False, False, "", (page, [created_id], "manual"))
    (first, second, reason), (_, other, _) = (sent.arguments() for _ in range(2))
    assert (first, reason) == (page, "manual")
    assert second != other
    assert len(second) == 1
    assert fill_new_ids("manual") == "manual"
