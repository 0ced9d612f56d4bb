"""Caches which SQL texts keep the rules, for other workers and for later runs: parsing a long text takes longer than
most tests.

Texts that break a rule, and texts that contain their values and so differ each time, are not cached in the file. The
cache is discarded when anything changes that verdicts depend on.
"""

from hashlib import blake2b
from pathlib import Path

import sqlglot

from tests.sql_rules import violations

ROOT = Path(__file__).parents[1]
RULES = ("tests/sql_*.py", "db/**/*.py", "db/**/*.sql")
"""The files that verdicts depend on, besides the version of sqlglot."""
LINE = 33  # bytes: the digest of a text as hexadecimal digits, and the end of the line
SIZE_MAX = 16_000_000  # bytes after which a file is started again: nightly runs draw other documents each time


class Verdicts:
    """Checks SQL texts, with a cache in a file if a folder is given."""

    def __init__(self, folder: Path | None = None, rules: str | None = None) -> None:
        self.sound: set[str] = set()
        self.read = 0
        self.file = folder and folder / (rules or digest_of_rules())
        if self.file is not None and self.file.exists() and self.file.stat().st_size > SIZE_MAX:
            self.file.unlink()
        for other in folder.iterdir() if folder is not None else ():
            if other != self.file:
                other.unlink(missing_ok=True)

    def violations(self, sql: str) -> list[str]:
        """Return what is wrong with a text."""
        digest = blake2b(sql.encode(), digest_size=16).hexdigest()
        if digest not in self.sound:
            self.catch_up()
        if digest in self.sound:
            return []
        if found := violations(sql):
            return found
        self.sound.add(digest)
        if self.file is not None and "$1" in sql:
            with self.file.open("ab", buffering=0) as file:
                file.write(f"{digest}\n".encode())  # one call appends the whole line after those of other workers
        return []

    def catch_up(self) -> None:
        """Read what other workers have added to the file since the last read."""
        if self.file is None or not self.file.exists():
            return
        with self.file.open("rb") as file:
            file.seek(self.read)
            lines = file.read()
        self.read += len(lines) // LINE * LINE
        self.sound.update(lines.decode().split("\n")[: len(lines) // LINE])


def digest_of_rules() -> str:
    digest = blake2b(sqlglot.__version__.encode(), digest_size=16)
    for pattern in RULES:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()
