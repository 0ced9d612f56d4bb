"""The third-party files of the GraphiQL page: their list, and their download from npm with a check of each hash.

They are not in the repository. `python -m app.graphiql.assets` fetches the missing ones. This module imports only the
standard library, because the build of the wheel and the first stage of the image run it before anything is installed.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

NPM_SECONDS = 120
"""Seconds after which the download of a package is given up."""


@dataclass(frozen=True)
class Asset:
    """A file of an npm package. `sha384` is its hash in base64, as in the `integrity` attribute of HTML."""

    package: str
    version: str
    path: str
    sha384: str

    @property
    def name(self) -> str:
        """The name of the file here. It contains the version, so that browsers can cache the file for ever."""
        return f"{self.package.removeprefix('@').replace('/', '-')}-{self.version}{Path(self.path).suffix}"

    @property
    def spec(self) -> str:
        return f"{self.package}@{self.version}"

    @property
    def cdn_url(self) -> str:
        return f"https://unpkg.com/{self.spec}/{self.path}"

    @property
    def integrity(self) -> str:
        return f"sha384-{self.sha384}"


# In the order in which a browser must run them.
ASSETS = (
    Asset(
        "react",
        "18.2.0",
        "umd/react.production.min.js",
        "tMH8h3BGESGckSAVGZ82T9n90ztNXxvdwvdM6UoR56cYcf+0iGXBliJ29D+wZ/x8",
    ),
    Asset(
        "react-dom",
        "18.2.0",
        "umd/react-dom.production.min.js",
        "bm7MnzvK++ykSwVJ2tynSE5TRdN+xL418osEVF2DE/L/gfWHj91J2Sphe582B1Bh",
    ),
    Asset(
        "graphiql",
        "3.8.3",
        "graphiql.min.js",
        "HbRVEFG0JGJZeAHCJ9Xm2+tpknBQ7QZmNlO/DgZtkZ0aJSypT96YYGRNod99l9Ie",
    ),
    Asset(
        "graphiql",
        "3.8.3",
        "graphiql.min.css",
        "Mq3vbRBY71jfjQAt/DcjxUIYY33ksal4cgdRt9U/hNPvHBCaT2JfJ/PTRiPKf0aM",
    ),
    Asset(
        "@graphiql/plugin-explorer",
        "1.0.2",
        "dist/index.umd.js",
        "2oonKe47vfHIZnmB6ZZ10vl7T0Y+qrHQF2cmNTaFDuPshpKqpUMGMc9jgj9MLDZ9",
    ),
    Asset(
        "@graphiql/plugin-explorer",
        "1.0.2",
        "dist/style.css",
        "5DFJlDPW2tSATRbM8kzoP1j194jexLswuNmClWoRr2Q0x7R68JIQzPHZ02Faktwi",
    ),
)


class AssetError(Exception):
    """The files cannot be fetched, or a file has the wrong hash. The message says what to do."""


def assets_folder() -> Path:
    """Return the folder of the files. It is beside this module; git ignores it, and the wheel includes it."""
    return Path(__file__).with_name("assets")


def missing_assets(assets: Iterable[Asset] = ASSETS, folder: Path | None = None) -> list[Asset]:
    """Return the assets that are missing from the folder or do not match their hash."""
    folder = folder or assets_folder()
    return [asset for asset in assets if not _is_whole(folder / asset.name, asset)]


def fetch(report: Callable[[str], None], assets: Iterable[Asset] = ASSETS, folder: Path | None = None) -> None:
    """Fetch the missing files with npm, and report each package. Only files that match their hash are written."""
    folder = folder or assets_folder()
    absent = missing_assets(assets, folder)
    if not absent:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise AssetError("npm is not installed. Install Node.js, which includes npm, to fetch GraphiQL's files")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for spec, files in groupby(absent, key=lambda asset: asset.spec):
            report(f"fetching {spec} for GraphiQL")
            _fetch_package(npm, spec, list(files), folder)
    except OSError as error:
        raise AssetError(f"GraphiQL's files cannot be written to {folder}: {error.strerror or error}") from error


def main() -> int:
    """Fetch the missing files, with progress on stderr. Return 1 if that fails; browsers then use the CDN."""
    try:
        fetch(lambda line: print(line, file=sys.stderr, flush=True))
    except AssetError as error:
        print(f"{error}\nUntil then, browsers load GraphiQL from a CDN.", file=sys.stderr)
        return 1
    return 0


def _fetch_package(npm: str, spec: str, assets: list[Asset], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        _pack(npm, spec, Path(scratch))
        [tarball] = Path(scratch).glob("*.tgz")
        with tarfile.open(tarball) as archive:
            contents = {asset: _member(archive, asset) for asset in assets}
    for asset, content in contents.items():
        _write(folder / asset.name, content)


def _pack(npm: str, spec: str, scratch: Path) -> None:
    command = [npm, "pack", spec, "--ignore-scripts", "--no-update-notifier", "--loglevel=error", "--fetch-retries=1"]
    try:
        subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True, timeout=NPM_SECONDS)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise AssetError(
            f"npm did not fetch {spec} within {NPM_SECONDS} seconds. Check that its registry can be reached"
        ) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip() or f"it ended with {error.returncode}"
        raise AssetError(f"npm could not fetch {spec}: {said}") from error


def _member(archive: tarfile.TarFile, asset: Asset) -> bytes:
    try:
        file = archive.extractfile(f"package/{asset.path}")
    except KeyError:
        file = None
    if file is None:
        raise AssetError(f"{asset.spec} has no file {asset.path}")
    content = file.read()
    if _sha384(content) != asset.sha384:
        raise AssetError(
            f"{asset.spec} {asset.path} is not the file that Cairn was made with and was refused: "
            f"expected sha384-{asset.sha384}, got sha384-{_sha384(content)}"
        )
    return content


def _write(target: Path, content: bytes) -> None:
    """Write the file atomically: other processes see it complete or not at all."""
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(target)


def _is_whole(file: Path, asset: Asset) -> bool:
    return file.is_file() and _sha384(file.read_bytes()) == asset.sha384


def _sha384(content: bytes) -> str:
    return base64.b64encode(hashlib.sha384(content).digest()).decode()


if __name__ == "__main__":
    sys.exit(main())
