"""The GraphiQL page: its content security policy, its files and their hashes."""

import base64
import hashlib
import io
import tarfile
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from app.graphiql.assets import ASSETS, Asset, AssetError, assets_folder, fetch, missing_assets
from app.graphiql.page import content_security_policy, graphiql_routes, page

FOLDER = "/graphiql/assets"
local_or_cdn = pytest.mark.parametrize("local", [True, False])
needs_assets = pytest.mark.skipif(bool(missing_assets()), reason="GraphiQL's files are not here: `make graphiql`")


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text inside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inline = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.lasttag in ("script", "style"):
            self.inline += data.strip()

    def files(self) -> list[dict[str, str | None]]:
        """Return the attributes of each element that loads a script or a stylesheet, in order."""
        return [own for tag, own in self.found if tag == "script" or own.get("rel") == "stylesheet"]

    def addresses(self) -> list[str]:
        return [str(file.get("src") or file.get("href")) for file in self.files()]


@local_or_cdn
def test_the_page_holds_no_inline_script_and_no_inline_style(local: bool) -> None:
    elements = Elements(page(endpoint="/graphql", folder=FOLDER, local=local))
    attributes = {name for _tag, own in elements.found for name in own}
    assert elements.inline == ""
    assert not {name for name in attributes if name.startswith("on") or name == "style"}


def test_the_page_with_local_files_names_no_other_server() -> None:
    assert "//" not in page(endpoint="/graphql", folder=FOLDER, local=True)
    assert "//" not in content_security_policy(local=True)


def test_the_page_without_local_files_loads_them_by_hash_from_the_cdn() -> None:
    elements = Elements(page(endpoint="/graphql", folder=FOLDER, local=False))
    checked = {str(file.get("src") or file.get("href")): file for file in elements.files() if "integrity" in file}
    assert set(checked) == {asset.cdn_url for asset in ASSETS}
    assert all(checked[asset.cdn_url]["integrity"] == asset.integrity for asset in ASSETS)
    assert all(file["crossorigin"] == "anonymous" for file in checked.values())


def test_the_csp_allows_scripts_and_styles_of_the_cdn_without_local_files() -> None:
    widened = dict(rule.split(" ", 1) for rule in content_security_policy(local=False).split("; "))
    strict = dict(rule.split(" ", 1) for rule in content_security_policy(local=True).split("; "))
    assert {name for name in strict if strict[name] != widened[name]} == {"script-src", "style-src"}
    assert strict["script-src"] == "'self'"
    assert strict["default-src"] == "'none'"


@given(st.text())
def test_the_endpoint_is_escaped_in_the_page(endpoint: str) -> None:
    elements = Elements(page(endpoint=f"/graphql?'\"><script>{endpoint}", folder=FOLDER, local=True))
    plain = Elements(page(endpoint="/graphql", folder=FOLDER, local=True))
    assert [tag for tag, _own in elements.found] == [tag for tag, _own in plain.found]


def test_asset_hashes_are_sha384_and_asset_names_are_unique() -> None:
    assert {len(base64.b64decode(asset.sha384, validate=True)) for asset in ASSETS} == {48}
    assert len({asset.name for asset in ASSETS}) == len(ASSETS)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=Starlette(routes=graphiql_routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://cairn.test") as client:
        yield client


async def test_the_page_is_served_with_its_policy(client: httpx.AsyncClient) -> None:
    answer = await client.get("/graphiql")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == content_security_policy(local=not missing_assets())
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_local_files_of_the_page_are_served_as_immutable(
    client: httpx.AsyncClient,
) -> None:
    own = [url for url in Elements((await client.get("/graphiql")).text).addresses() if url.startswith(FOLDER)]
    answers = [await client.get(url) for url in own]
    assert len(own) >= 2
    assert {answer.status_code for answer in answers} == {200}
    assert all("immutable" in answer.headers["cache-control"] for answer in answers)


@pytest.mark.parametrize("name", ["nothing.js", "boot.js", "..%2fpage.py", "%2e%2e/page.py", "../page.py", "%00"])
async def test_no_other_file_is_served(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"{FOLDER}/{name}")).status_code == 404


@needs_assets
async def test_assets_are_served_byte_for_byte(client: httpx.AsyncClient) -> None:
    for asset in ASSETS:
        assert (await client.get(f"{FOLDER}/{asset.name}")).content == (assets_folder() / asset.name).read_bytes()


# A package whose only file says `hello`, and what npm does with it: put its tarball into the current folder.
HELLO_HASH = base64.b64encode(hashlib.sha384(b"hello").digest()).decode()
HELLO = Asset("@cairn/hello", "1.2.3", "dist/hello.js", HELLO_HASH)


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put an npm program on the PATH that hands out one tarball, and return the tarball."""
    tarball = tmp_path / "registry" / "cairn-hello-1.2.3.tgz"
    tarball.parent.mkdir()
    _pack(tarball, "dist/hello.js", b"hello")
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n/bin/cp "{tarball}" .\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return tarball


def _pack(tarball: Path, name: str, content: bytes) -> None:
    with tarfile.open(tarball, "w:gz") as archive:
        member = tarfile.TarInfo(f"package/{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def test_fetching_downloads_missing_files_and_then_nothing(npm: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    fetch(lines.append, [HELLO], tmp_path / "assets")
    fetch(lines.append, [HELLO], tmp_path / "assets")
    assert lines == ["fetching @cairn/hello@1.2.3 for GraphiQL"]
    assert [file.name for file in (tmp_path / "assets").iterdir()] == ["cairn-hello-1.2.3.js"]
    assert missing_assets([HELLO], tmp_path / "assets") == []


def test_a_file_with_another_hash_is_refused_and_not_written(npm: Path, tmp_path: Path) -> None:
    _pack(npm, "dist/hello.js", b"hello, I am somebody else")
    with pytest.raises(AssetError, match=r"was refused: expected sha384-.* got sha384-"):
        fetch(print, [HELLO], tmp_path / "assets")
    assert missing_assets([HELLO], tmp_path / "assets") == [HELLO]


def test_a_package_without_the_file_is_refused(npm: Path, tmp_path: Path) -> None:
    _pack(npm, "dist/other.js", b"hello")
    with pytest.raises(AssetError, match=r"@cairn/hello@1\.2\.3 has no file dist/hello\.js"):
        fetch(print, [HELLO], tmp_path / "assets")


def test_a_damaged_file_counts_as_missing_and_is_fetched_again(npm: Path, tmp_path: Path) -> None:
    fetch(print, [HELLO], tmp_path / "assets")
    (tmp_path / "assets" / HELLO.name).write_text("hel")
    assert missing_assets([HELLO], tmp_path / "assets") == [HELLO]
    fetch(print, [HELLO], tmp_path / "assets")
    assert missing_assets([HELLO], tmp_path / "assets") == []


def test_the_output_of_npm_is_shown(npm: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "npm").write_text("#!/bin/sh\necho 'no such host' >&2; exit 7\n")
    with pytest.raises(AssetError, match=r"npm could not fetch @cairn/hello@1\.2\.3: no such host"):
        fetch(print, [HELLO], tmp_path / "assets")


def test_without_npm_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssetError, match=r"Install Node\.js"):
        fetch(print, [HELLO], tmp_path / "assets")
