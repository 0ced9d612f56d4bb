"""Files of the attachments folder in backups and tenant archives: all of them, each compared by its hash."""

from hashlib import sha256
from pathlib import Path

import pytest

from db.archives.folder import Archive, ArchiveBroken, ArchiveRefused
from db.blob_folder import BlobFolder
from db.migrate import migrate
from resolvers.archives.backups import back_up, restore
from resolvers.archives.files import missing_files
from resolvers.archives.moves import export_tenant, import_tenant
from tests.resolvers.archives.filled_tenant import FILE, fill_wiki, filled_files
from tests.resolvers.archives.test_backups import ignore_progress, one_server, open_copy
from tests.wiki import Wiki, close_wiki

__all__ = ["one_server"]


@pytest.fixture
async def folder(wiki: Wiki, tmp_path: Path) -> BlobFolder:
    wiki.database.blob_folder = blob_folder = BlobFolder(tmp_path / "files")
    await fill_wiki(wiki, 1)
    return blob_folder


@pytest.mark.parametrize("whole", [True, False])
async def test_files_are_restored_with_the_rows_that_refer_to_them(
    wiki: Wiki, folder: BlobFolder, dsn: str, empty_dsn: str, tmp_path: Path, whole: bool
) -> None:
    place, there = tmp_path / "archive", BlobFolder(tmp_path / "there")
    if whole:
        await back_up(dsn, place, None, ignore_progress, folder)
    else:
        await export_tenant(dsn, str(wiki.scope.tenant_id), place, ignore_progress, folder)
        await migrate(empty_dsn)
    archive = Archive(place)
    assert {path.name for path in (place / "blobs").glob("*/*/*")} == {
        sha256(data).hexdigest() for data in (FILE, FILE[::-1])
    }
    with pytest.raises(ArchiveRefused, match="CAIRN_ATTACHMENTS_DIR"):
        await load_archive(empty_dsn, archive, None, whole)
    await load_archive(empty_dsn, archive, there, whole)
    copy = await open_copy(empty_dsn, wiki)
    copy.database.blob_folder = there
    try:
        assert await filled_files(copy) == (FILE, FILE[::-1])
    finally:
        await close_wiki(copy)


async def load_archive(dsn: str, archive: Archive, folder: BlobFolder | None, whole: bool) -> None:
    if whole:
        assert (await restore(dsn, archive, ignore_progress, replace=False, folder=folder)).missing == []
    else:
        await import_tenant(dsn, archive, ignore_progress, replace=False, folder=folder)


async def test_a_backup_without_the_attachments_folder_is_refused(
    wiki: Wiki, folder: BlobFolder, dsn: str, tmp_path: Path
) -> None:
    with pytest.raises(ArchiveRefused, match="CAIRN_ATTACHMENTS_DIR"):
        await back_up(dsn, tmp_path / "archive", None, ignore_progress)
    assert not (tmp_path / "archive").exists()


async def test_a_file_that_was_changed_in_an_archive_is_not_restored(
    wiki: Wiki, folder: BlobFolder, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    await back_up(dsn, tmp_path / "archive", None, ignore_progress, folder)
    path = next((tmp_path / "archive" / "blobs").glob("*/*/*"))
    path.write_bytes(b"other")
    there = BlobFolder(tmp_path / "there")
    with pytest.raises(ArchiveBroken, match=path.name):
        await restore(empty_dsn, Archive(tmp_path / "archive"), ignore_progress, replace=False, folder=there)
    assert not there.root.exists()


async def test_a_missing_file_is_reported_and_the_others_are_restored(
    wiki: Wiki, folder: BlobFolder, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    hash = sha256(FILE).digest()
    folder.drop(wiki.scope.tenant_id, wiki.scope.owner_id, hash)
    await back_up(dsn, tmp_path / "archive", None, ignore_progress, folder)
    archive, there = Archive(tmp_path / "archive"), BlobFolder(tmp_path / "there")
    assert [name.rpartition("/")[2] for name in missing_files(archive)] == [hash.hex()]
    (message,) = (await restore(empty_dsn, archive, ignore_progress, replace=False, folder=there)).missing
    assert hash.hex() in message
    assert there.has(wiki.scope.tenant_id, wiki.scope.owner_id, sha256(FILE[::-1]).digest())
