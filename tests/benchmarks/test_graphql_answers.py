"""All servers get the same requests, and their answers are equal: else their figures would mean nothing."""

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
def test_a_document_is_of_the_contract_and_of_the_dataloaders(name: str) -> None:
    document = graphql.parse(OURS[name])
    assert graphql.validate(GRAPHQL, document) == []
    assert graphql.validate(dataloaders._schema, document) == []


def test_every_document_has_its_like_in_postgraphile() -> None:
    assert OURS.keys() == THEIRS.keys()
    assert handwritten_statements().keys() | set(REPLAYED) == set(OPERATIONS)


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


def test_the_baseline_passes_on_the_page_of_a_write() -> None:
    ours = {"data": {"unlinkWikiPages": {"page": {"id": "1"}}}}
    compare("baseline", "unlink", {"data": {"id": "1"}}, ours)


def test_other_data_and_errors_are_unequal() -> None:
    ours = {"data": {"wikiPage": {"title": "A"}}}
    with pytest.raises(Unequal, match="differ"):
        compare("baseline", "page", {"data": {"wikiPage": {"title": "B"}}}, ours)
    with pytest.raises(Unequal, match="baseline answers with errors"):
        compare("baseline", "page", {"data": None, "errors": [{"message": "too many clients"}]}, ours)


def test_each_link_is_undone_when_those_under_way_are_through() -> None:
    pairs = candidates(WIKIS, 3 * LINK_DISTANCE)
    drawn = draw_writes(pairs)
    ends = [(one.document, *one.variables["input"].values()) for one in drawn]
    for pair in pairs:
        link, unlink = (ends.index((name, str(pair.start), str(pair.end))) for name in ("link", "unlink"))
        assert unlink - link == LINK_DISTANCE


@pytest.mark.parametrize("name", READS)
def test_reads_are_drawn_from_the_whole_wiki_and_never_repeat(name: str) -> None:
    drawn = draw_reads(name, WIKIS)
    assert drawn == draw_reads(name, WIKIS)
    assert len({(one.wiki, str(one.variables)) for one in drawn}) == len(drawn)
    assert {one.wiki for one in drawn} == {*WIKIS}
    if name in ("page", "graph"):
        assert len(drawn) == sum(wiki.pages * 19 // 20 for wiki in WIKIS)


def test_a_load_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    source = Source(tmp_path / "requests", batch=4)
    source.write(build_requests("strawberry", "page", draw_reads("page", WIKIS)[:13]))
    starts = []
    for sent in (3, 4, 1):
        starts.append(source.start)
        source.advance(sent)
    assert starts == [0, 4, 8]
    assert source.start == 0


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
async def test_no_two_requests_are_the_same_bytes(tmp_path: Path) -> None:
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
    assert {len(one) for one in found} == {1}
    assert len({one[0] for one in found}) == len(heads) > 2


def test_a_request_is_whole_http() -> None:
    page = draw_reads("page", WIKIS)[0]
    (wire,) = [one.wire() for one in build_requests("strawberry", "page", [page])]
    head, _, body = wire.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /graphql HTTP/1.1\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert f"x-owner: {page.wiki.owner_id}".encode() in head


def test_variables_are_stored_without_enums_and_nesting() -> None:
    (link, *_) = draw_writes(candidates(WIKIS, 1))
    assert flat_variables(link) == {
        "tenant": str(link.wiki.tenant_id),
        "owner": str(link.wiki.owner_id),
        "from": link.variables["input"]["fromPageId"],
        "to": link.variables["input"]["toPageId"],
    }
    assert flat_variables(draw_reads("page", WIKIS)[0])["type"].islower()


def test_a_write_that_is_sent_again_makes_ids_of_its_own() -> None:
    page, made = WIKIS[0].page(1), new_id()
    values = tuple(map(mark_new_ids, (page, [made], "manual")))
    assert values == (page, [NEW_ID], "manual")
    sent = SentStatement.of_query(False, False, "", (page, [made], "manual"))
    (first, second, reason), (_, other, _) = (sent.arguments() for _ in range(2))
    assert (first, reason) == (page, "manual")
    assert second != other
    assert len(second) == 1
    assert fill_new_ids("manual") == "manual"
