"""The operating system account that runs the embedded Postgres, which refuses to run as root."""

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
        """Return the arguments of subprocess.Popen that run a program as this account."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, folder: Path) -> None:
        """Make the account the owner of a folder and everything in it."""
        if folder.stat().st_uid == self.uid:
            return
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_account(cluster: Path, reached: Iterable[Path], report: Callable[[str], None]) -> SystemAccount:
    """Return the current user. For root, return the owner of the folder or a new account, which can enter `reached`."""
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
    """Return the owner of the folder, or None if it is root, or unknown to this system as for a volume of another."""
    if not cluster.exists() or cluster.stat().st_uid == 0:
        return None
    try:
        return pwd.getpwuid(cluster.stat().st_uid)
    except KeyError:
        return None


def make_account(report: Callable[[str], None]) -> pwd.struct_passwd:
    """Return a new or existing system account without a home, or `nobody` if none can be created."""
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        report(f"Creating the system account {NAME}, because Postgres refuses to run as root")
    if program := shutil.which("useradd"):
        # This fails if another process creates the account at the same moment, which has the same result.
        subprocess.run([program, "--system", "--no-create-home", NAME], check=False, capture_output=True)  # noqa: S603
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        return pwd.getpwnam("nobody")


def let_through(path: Path, report: Callable[[str], None]) -> None:
    """Let other accounts enter, but not list, the folders that lead to a path. An installation becomes readable."""
    for folder in (path, *path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            report(f"Allowing other accounts to enter {folder}, for Postgres")
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    if path.name == "bin":
        open_to_all(path.parent)


@cache  # an installation has thousands of files
def open_to_all(install: Path) -> None:
    """Make an installation readable for all accounts. With a strict umask only root can read it."""
    for path in install.rglob("*"):
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)
