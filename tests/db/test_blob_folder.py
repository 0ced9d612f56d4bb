"""Files of blobs in a folder are stored completely or not at all."""

import os
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from db.blob_folder import PARTIAL, BlobFolder

DATA = bytes(range(256)) * 9
HASH = sha256(DATA).digest()
TENANT, OWNER, OTHER = uuid4(), uuid4(), uuid4()


@pytest.fixture
def folder(tmp_path: Path) -> BlobFolder:
    return BlobFolder(tmp_path / "files")


def test_a_file_is_read_byte_for_byte_and_belongs_to_its_wiki(folder: BlobFolder) -> None:
    folder.put(TENANT, OWNER, HASH, DATA)
    folder.put(TENANT, OWNER, HASH, DATA)
    assert folder.get(TENANT, OWNER, HASH) == DATA
    assert (folder.get(TENANT, OTHER, HASH), folder.has(TENANT, OTHER, HASH)) == (None, False)
    assert folder.copy(TENANT, OWNER, OTHER, HASH)
    folder.drop_tree(TENANT, OWNER)
    assert (folder.get(TENANT, OWNER, HASH), folder.get(TENANT, OTHER, HASH)) == (None, DATA)
    folder.drop_tree(TENANT)
    folder.drop_tree(TENANT)
    assert list(folder.root.iterdir()) == []


def test_a_failed_write_leaves_no_file(folder: BlobFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            folder.put(TENANT, OWNER, HASH, DATA)
    assert [path for path in folder.root.rglob("*") if path.is_file()] == []
    assert folder.get(TENANT, OWNER, HASH) is None


def test_a_file_with_changed_content_is_not_returned(folder: BlobFolder) -> None:
    folder.put(TENANT, OWNER, HASH, DATA)
    folder.path(TENANT, OWNER, HASH).write_bytes(DATA[:-1])
    assert folder.get(TENANT, OWNER, HASH) is None
    assert not folder.copy(TENANT, OWNER, OTHER, HASH)
    folder.put(TENANT, OWNER, HASH, DATA)
    assert folder.get(TENANT, OWNER, HASH) == DATA


def test_a_partial_file_of_a_killed_writer_is_ignored_and_can_be_deleted(folder: BlobFolder) -> None:
    folder.put(TENANT, OWNER, HASH, DATA)
    partial = folder.path(TENANT, OWNER, HASH).with_name(f"{PARTIAL}x")
    partial.write_bytes(b"half")
    assert list(folder.list_files(TENANT, OWNER)) == [HASH]
    folder.drop_partial(TENANT, OWNER)
    assert (partial.exists(), folder.has(TENANT, OWNER, HASH)) == (False, True)


def test_file_permissions_exclude_other_system_users(folder: BlobFolder) -> None:
    folder.put(TENANT, OWNER, HASH, DATA)
    assert {path.stat().st_mode & 0o77 for path in folder.root.rglob("*") if path.is_file()} == {0}


def test_an_unwritable_folder_reports_its_cause(tmp_path: Path) -> None:
    assert BlobFolder(tmp_path / "new").check_writable() is None
    (tmp_path / "file").write_text("x")
    assert "ile exists" in str(BlobFolder(tmp_path / "file").check_writable())
