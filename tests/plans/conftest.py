"""Measures all plans in one database, which is written, measured and dropped once per run by the first worker."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest

from tests.conftest import database_copy, shared_resource
from tests.plans.measurements import Key, Measurement, measure_growing


@pytest.fixture(scope="session")
def measurements(server_dsn: str, template: str, shared_folder: Path) -> Iterator[dict[Key, Measurement]]:
    """The measurements by name of the case, kind of plan and size of the wiki."""

    def make() -> str:
        with database_copy(server_dsn, template) as dsn:
            return orjson.dumps([asdict(one) for one in asyncio.run(measure_growing(dsn))]).decode()

    with shared_resource(shared_folder / "plans", make, lambda text: None) as text:
        found = [Measurement(**one) for one in orjson.loads(text)]
        yield {(one.name, one.planning, one.pages): one for one in found}
