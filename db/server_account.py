"""Whom the embedded Postgres runs as. It refuses to run as root, so root needs an account for it and opens the way."""

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "cairn-postgres"


@dataclass(frozen=True, slots=True)
class Account:
    """The user that owns the server's files and processes."""

    uid: int
    gid: int

    @property
    def switch(self) -> dict[str, Any]:
        """What subprocess needs to become it."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, folder: Path) -> None:
        """Gives the folder and all in it to the account."""
        if folder.stat().st_uid == self.uid:
            return
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_account(cluster: Path, reached: Iterable[Path], report: Callable[[str], None]) -> Account:
    """Ourselves; for root the owner of the server's folder, or an account made for it that can get at `reached`."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    entry = known_owner(cluster) or made_account(report)
    account = Account(entry.pw_uid, entry.pw_gid)
    if cluster.exists():
        account.own(cluster)
    for path in reached:
        let_through(path, report)
    return account


def known_owner(cluster: Path) -> pwd.struct_passwd | None:
    """None also when the owner is unknown here, as in a container that got another one's volume."""
    if not cluster.exists() or cluster.stat().st_uid == 0:
        return None
    try:
        return pwd.getpwuid(cluster.stat().st_uid)
    except KeyError:
        return None


def made_account(report: Callable[[str], None]) -> pwd.struct_passwd:
    """A system account without a home; `nobody` where none can be made."""
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        report(f"Making the system account {NAME}, because Postgres refuses to run as root")
    if program := shutil.which("useradd"):
        # Fails when another process makes it at this moment, which serves as well.
        subprocess.run([program, "--system", "--no-create-home", NAME], check=False, capture_output=True)  # noqa: S603
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        return pwd.getpwnam("nobody")


def let_through(path: Path, report: Callable[[str], None]) -> None:
    """Lets other accounts pass through (not list) the folders that lead to a path; programs are opened whole."""
    for folder in (path, *path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            report(f"Letting other accounts pass through {folder}, for Postgres")
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    if path.name == "bin":
        open_to_all(path.parent)


def open_to_all(install: Path) -> None:
    """An installation under a strict umask is unreadable to everybody but root."""
    for path in install.rglob("*"):
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)
