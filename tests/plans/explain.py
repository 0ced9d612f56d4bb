"""How Postgres runs a statement, for values that it sees and for values that it does not."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import asyncpg
import orjson

from db import explaining
from tests.listening import Sent

TINY = 100  # rows
OPTIONS = ("ANALYZE", "BUFFERS", "FORMAT JSON")


class Planning(StrEnum):
    """Whether the plan is made for the values, or once for all of them: a prepared statement meets both."""

    CUSTOM = explaining.CUSTOM
    GENERIC = explaining.GENERIC


@dataclass(frozen=True)
class Execution:
    """One plan with what it did."""

    root: dict[str, Any]

    @property
    def blocks(self) -> int:
        """Blocks of tables and indexes that were looked at, once for each time."""
        blocks: int = self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"]
        return blocks

    @property
    def scanned(self) -> set[str]:
        """Tables that were read from end to end, but for those that fit into a block or two."""
        scans = [node for node in below(self.root) if node["Node Type"] == "Seq Scan" and was_run(node)]
        return {node["Relation Name"] for node in scans if rows_read(node) > TINY}

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in below(self.root) if "Index Name" in node and was_run(node)}

    def costliest(self) -> str:
        """For the message of a failed test: where the blocks went."""
        spent: Counter[str] = Counter()
        for node in below(self.root):
            if name := node.get("Index Name") or node.get("Relation Name"):
                spent[f"{node['Node Type']} {name}"] += node["Shared Hit Blocks"] + node["Shared Read Blocks"]
        return ", ".join(f"{name}: {blocks}" for name, blocks in spent.most_common(6))


def below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from below(child)


def rows_read(node: dict[str, Any]) -> float:
    rows: float = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return rows


def was_run(node: dict[str, Any]) -> bool:
    return bool(node["Actual Loops"])


async def explain(connection: asyncpg.Connection, sent: Sent, planning: Planning) -> Execution:
    """The connection is prepared as those of the product are."""
    async with connection.transaction():
        for _ in range(2):  # the first run may also set hint bits and load the catalogue
            (text,) = await explaining.explain(connection, sent.sql, sent.arguments, OPTIONS, planning)
    return Execution(orjson.loads(text)[0]["Plan"])
