"""The account of the operating system that Postgres runs as: it refuses to run as root."""

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

NAME = "cairn-postgres"


@dataclass(frozen=True, slots=True)
class SystemAccount:
    """The user that owns the server's files and processes."""

    uid: int
    gid: int

    @property
    def switch(self) -> dict[str, Any]:
        """Return the arguments with which subprocess becomes the account."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, folder: Path) -> None:
        """Give the folder and all in it to the account."""
        if folder.stat().st_uid == self.uid:
            return
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_account(cluster: Path, reached: Iterable[Path], report: Callable[[str], None]) -> SystemAccount:
    """Return the current user, or for root the folder's owner, or a new account that can get at `reached`."""
    if os.geteuid() != 0:
        return SystemAccount(os.geteuid(), os.getegid())
    entry = folder_owner(cluster) or make_account(report)
    account = SystemAccount(entry.pw_uid, entry.pw_gid)
    if cluster.exists():
        account.own(cluster)
    for path in reached:
        let_through(path, report)
    return account


def folder_owner(cluster: Path) -> pwd.struct_passwd | None:
    """Return the folder's owner; None also if unknown here, as in a container that got another one's volume."""
    if not cluster.exists() or cluster.stat().st_uid == 0:
        return None
    try:
        return pwd.getpwuid(cluster.stat().st_uid)
    except KeyError:
        return None


def make_account(report: Callable[[str], None]) -> pwd.struct_passwd:
    """Return a system account without a home, or `nobody` if none can be made."""
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        report(f"Creating the system account {NAME}, because Postgres refuses to run as root")
    if program := shutil.which("useradd"):
        # Fails when another process makes it at this moment, which serves as well.
        subprocess.run([program, "--system", "--no-create-home", NAME], check=False, capture_output=True)  # noqa: S603
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        return pwd.getpwnam("nobody")


def let_through(path: Path, report: Callable[[str], None]) -> None:
    """Let other accounts pass through (not list) the folders that lead to a path; programs are opened whole."""
    for folder in (path, *path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            report(f"Allowing other accounts to enter {folder}, for Postgres")
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    if path.name == "bin":
        open_to_all(path.parent)


@cache  # there are thousands of files
def open_to_all(install: Path) -> None:
    """Make an installation readable to everybody: under a strict umask it is so to root alone."""
    for path in install.rglob("*"):
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)
