"""Sets up the folder of attachments from the settings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db.blob_folder import BlobFolder
    from db.database import Database

    from .settings import Settings


def blob_folder_of(settings: "Settings") -> "BlobFolder | None":
    """Return the folder of attachments, or None if the settings name none."""
    if settings.attachments_dir is None:
        return None
    from db.blob_folder import BlobFolder

    return BlobFolder(settings.attachments_dir)


def use_blob_folder(settings: "Settings", database: "Database") -> None:
    """Make the database store new files in the folder of the settings, if they name one."""
    database.blob_folder = blob_folder_of(settings)
