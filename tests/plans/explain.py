"""Explains how Postgres runs a statement with a custom and with a generic plan."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import asyncpg
import orjson

from db import explaining
from tests.recording_database import SentStatement

TINY = 100  # rows
OPTIONS = ("ANALYZE", "BUFFERS", "FORMAT JSON")


class Planning(StrEnum):
    """Whether the plan is made for the values, or once for all values: a prepared statement may use either."""

    CUSTOM = explaining.CUSTOM
    GENERIC = explaining.GENERIC


@dataclass(frozen=True)
class Execution:
    """One plan with what it did."""

    root: dict[str, Any]

    @property
    def blocks(self) -> int:
        """The blocks of tables and indexes that were read, counted each time."""
        blocks: int = self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"]
        return blocks

    @property
    def scanned(self) -> set[str]:
        """The tables that were scanned completely, except those that fit into a block or two."""
        scans = [node for node in plan_nodes(self.root) if node["Node Type"] == "Seq Scan" and was_run(node)]
        return {node["Relation Name"] for node in scans if rows_read(node) > TINY}

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in plan_nodes(self.root) if "Index Name" in node and was_run(node)}

    def costliest_node(self) -> str:
        """Return where most blocks were read, for the message of a failed test."""
        spent: Counter[str] = Counter()
        for node in plan_nodes(self.root):
            if name := node.get("Index Name") or node.get("Relation Name"):
                spent[f"{node['Node Type']} {name}"] += node["Shared Hit Blocks"] + node["Shared Read Blocks"]
        return ", ".join(f"{name}: {blocks}" for name, blocks in spent.most_common(6))


def plan_nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from plan_nodes(child)


def rows_read(node: dict[str, Any]) -> float:
    rows: float = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return rows


def was_run(node: dict[str, Any]) -> bool:
    return bool(node["Actual Loops"])


async def explain(connection: asyncpg.Connection, sent: SentStatement, planning: Planning) -> Execution:
    """Execute a statement and return its plan. The connection is prepared as those of the product are."""
    async with connection.transaction():
        for _ in range(2):  # the first run may also set hint bits and load the catalogue
            (text,) = await explaining.explain(connection, sent.sql, sent.arguments, OPTIONS, planning)
    return Execution(orjson.loads(text)[0]["Plan"])
