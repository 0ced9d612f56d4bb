"""The wheel contains the files that it needs and no others, and no other distribution has its package names."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from app.graphiql.assets import ASSETS, missing_assets
from tests.test_licenses import required_packages

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])


def build(source: Path, target: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Build the wheel with the installed hatchling, without the network and without a new environment."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    return subprocess.run(
        command, cwd=source, env=os.environ | environment, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the wheel, with those of GraphiQL if they had been fetched."""
    target = tmp_path_factory.mktemp("dist")
    built = build(ROOT, target, {"CAIRN_WHEEL_WITHOUT_GRAPHIQL": "1"})
    assert built.returncode == 0, built.stderr
    [file] = target.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        return set(archive.namelist())


def committed(folder: str, pattern: str) -> set[str]:
    return {file.relative_to(ROOT).as_posix() for file in (ROOT / folder).rglob(pattern) if file.suffix != ".pyc"}


@pytest.mark.parametrize(
    ("folder", "pattern"),
    [
        ("db/queries", "*.sql"),
        ("migrations", "*.py"),
        ("app/sample", "*.md"),
        ("app/sample", "*.yaml"),
        ("app/rest", "*.graphql"),
        ("app/web", "*.*"),
        ("app/graphiql", "boot.*"),
        ("app/graphiql", "page.html"),
        ("schema", "*.graphql"),
    ],
)
def test_the_wheel_contains_the_files_read_at_run_time(wheel: set[str], folder: str, pattern: str) -> None:
    wanted = committed(folder, pattern)
    assert wanted
    assert wanted <= wheel


@pytest.mark.skipif(bool(missing_assets()), reason="GraphiQL's files are not here: `make graphiql`")
def test_the_wheel_holds_graphiqls_files(wheel: set[str]) -> None:
    assert {f"app/graphiql/assets/{asset.name}" for asset in ASSETS} <= wheel


def test_the_wheel_contains_only_the_packages_and_no_caches(wheel: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == PACKAGES
    assert not {name for name in wheel if "__pycache__" in name or name.endswith((".pyc", ".map"))}


def test_a_wheel_without_graphiql_and_without_npm_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "app" / "graphiql", source / "app" / "graphiql", ignore=shutil.ignore_patterns("assets"))
    for file in ("pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / file, source)
    (source / "README.md").write_text("Cairn")
    built = build(source, tmp_path / "dist", {"PATH": str(tmp_path)})
    assert built.returncode != 0
    assert "npm is not installed" in built.stderr
    assert "CAIRN_WHEEL_WITHOUT_GRAPHIQL=1" in built.stderr
    assert not list(tmp_path.glob("dist/*.whl"))


NEEDING_EXTRAS = {"app.observability.otlp"} | {
    f"compiler.models.{name}" for name in ("requests", "judge", "models", "planner", "writer")
}
IMPORT_ALL = """
import importlib, pkgutil, sys

for package in map(importlib.import_module, sys.argv[1:]):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError:
            print(module.name)
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links to the files that an installation without extras has, and to no others."""
    folder = tmp_path_factory.mktemp("libraries")
    for package in required_packages(PROJECT["project"]["name"], (), {}):
        for file in package.files or []:
            if ".." not in file.parts and file.suffix != ".pth":
                link = folder / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(Path(str(file.locate())))
    return folder


def test_without_extras_only_the_modules_that_need_them_fail_to_import(libraries: Path) -> None:
    """The image and `make demo` are installations without extras, unlike the environment of the tests."""
    environment = {**os.environ, "PYTHONPATH": f"{libraries}{os.pathsep}{ROOT}"}
    # -S: without the folder of libraries that this Python has.
    command = [sys.executable, "-S", "-c", IMPORT_ALL, *sorted(PACKAGES - {"migrations"})]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {*done.stdout.split()} == NEEDING_EXTRAS


def test_no_other_distribution_has_a_package_of_the_same_name() -> None:
    owners = {
        (distribution.name, file.parts[0])
        for distribution in distributions()
        for file in distribution.files or []
        if file.parts[0].removesuffix(".py") in PACKAGES and distribution.name != PROJECT["project"]["name"]
    }
    assert owners == set()


def test_constraints_pin_every_dependency_and_contain_no_address() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(line.count("==") == 1 and "/" not in line and " " not in line for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    declared = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["dev"]
    assert {requirement_name(line) for line in declared} <= pinned


def requirement_name(requirement: str) -> str:
    return requirement.split(">=")[0].split("[")[0].strip().lower().replace("_", "-")
