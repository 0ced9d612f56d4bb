"""Killed ingests lose no acknowledged file, and store none in part."""

import asyncio
import random
from hashlib import sha256
from pathlib import Path

import orjson
import pytest
from hypothesis import settings

from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from tests.forked import forked_process, stop_process
from tests.resolvers.ingest.ingest_process import ingest_files, note_bytes, run_ingest
from tests.wiki import Wiki, check_derived_rows

KILLS = 15
FILES = 400
MANY = 1_000 if settings.get_current_profile_name() == "nightly" else 200


@pytest.mark.parametrize("policy", [Policy.OPEN, Policy.REVIEW])
async def test_acknowledged_ingests_survive_kills_and_none_is_partial(
    wiki: Wiki, dsn: str, tmp_path: Path, policy: Policy
) -> None:
    rules = checked_rules([PolicyRule(WriterRole.MEMBER, policy)])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(rules).decode())
    chance, killed, log = random.Random(7), 0, tmp_path / "told"
    log.touch()
    where = (dsn, str(wiki.scope.tenant_id), str(wiki.scope.owner_id), str(log))
    while killed < KILLS and (done := len(acknowledged(log))) < FILES:
        process = forked_process(run_ingest, args=(*where, done, FILES))
        process.start()
        until = done + chance.randrange(1, 10)
        while process.is_alive() and len(acknowledged(log)) < until:
            await asyncio.sleep(0.002)
        await asyncio.sleep(chance.random() * 0.05)
        killed += stop_process(process) < 0
        await check_whole(wiki, log, policy)
    assert killed >= KILLS // 2
    await check_derived_rows(wiki)


def acknowledged(log: Path) -> list[tuple[int, str, str]]:
    """Return the acknowledged ingests of the log: their number, source, and page or proposal."""
    whole = [line.split() for line in log.read_text(encoding="ascii").splitlines(keepends=True) if line.endswith("\n")]
    return [(int(number), source_id, place) for number, source_id, place in whole]


async def check_whole(wiki: Wiki, log: Path, policy: Policy) -> None:
    """Check that each source has its file and a page or proposal that cites it, and that acknowledged files exist."""
    sources = {str(row["id"]): row for row in await wiki.rows("sources")}
    originals = {str(row["source_id"]): row for row in await wiki.rows("source_originals", "1")}
    blobs = {bytes(row["hash"]): bytes(row["data"]) for row in await wiki.rows("blobs", "1")}
    assert originals.keys() == sources.keys()
    assert {bytes(row["hash"]) for row in originals.values()} == blobs.keys()
    assert all(sha256(data).digest() == hash for hash, data in blobs.items())
    if policy is Policy.OPEN:
        cited = {str(row["source_id"]) for row in await wiki.rows("section_sources")}
        places = {str(row["id"]) for row in await wiki.rows("pages")}
    else:
        assert await wiki.rows("pages") == []
        proposals = await wiki.rows("proposals")
        cited = {row["arguments"]["source_id"] for row in proposals}
        places = {str(row["id"]) for row in proposals}
    assert cited == sources.keys()
    for number, source_id, place in acknowledged(log):
        assert blobs[bytes(originals[source_id]["hash"])] == note_bytes(number % 40, number // 40 + 1)
        assert place in places


async def test_each_of_many_ingests_adds_a_version(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    log = tmp_path / "told"
    where = (dsn, str(wiki.scope.tenant_id), str(wiki.scope.owner_id), str(log))
    quarters = [(n * MANY // 4, (n + 1) * MANY // 4) for n in range(4)]
    for first, last in quarters:
        await ingest_files(*where, first, last)
    assert len(acknowledged(log)) == MANY
    await check_whole(wiki, log, Policy.OPEN)
    assert len(await wiki.rows("sources")) == MANY
    assert len(await wiki.rows("pages")) == 40
    await check_derived_rows(wiki)
