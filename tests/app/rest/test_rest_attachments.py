"""Tests that the files that a page embeds are downloaded over REST."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.resolvers.import_export.vaults import import_files
from tests.wiki import Wiki

NEAR, TOP = b"\x89PNG near", b"\x89PNG top"
VAULT: dict[str, str | bytes] = {
    ".obsidian/app.json": "{}", "Trips/Austin.md": "![[map.png]]", "Trips/map.png": NEAR, "map.png": TOP
}  # fmt: skip


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_an_attachment_is_found_by_its_path_as_the_page_writes_it(
    rest: RestClient, wiki: Wiki, tmp_path: Path
) -> None:
    await import_files(wiki, tmp_path, VAULT)
    for query, data in (
        ("path=map.png", TOP),
        ("path=map.png&beside=Trips/Austin.md", NEAR),
        ("path=Trips/map.png", NEAR),
    ):
        answer = await rest.get(f"/attachment?{query}")
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, data, "image/png")
        assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''map.png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
    row = await wiki.row("attachments", path="map.png")
    assert bytes(row["hash"]) == sha256(TOP).digest()


async def test_an_unknown_attachment_is_not_found(rest: RestClient, wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, VAULT)
    for path in ("plan.pdf", "../map.gif", "Trips"):
        assert (await rest.get(f"/attachment?path={path}")).status_code == 404
    assert (await rest.get("/attachment")).status_code == 422
