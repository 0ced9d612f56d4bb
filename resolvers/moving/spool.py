"""Notes that wait on the disk, so that an import of many takes no more memory than one of few."""

import pickle
import tempfile
from types import TracebackType

from content.notes import Note


class Spool:
    """Keeps notes in a file of its own, which is gone when the import is over."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  closed with the spool

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.file.close()

    def keep(self, note: Note) -> int:
        """Where it is kept."""
        place = self.file.seek(0, 2)
        pickle.dump(note, self.file, pickle.HIGHEST_PROTOCOL)
        return place

    def take(self, place: int) -> Note:
        self.file.seek(place)
        note: Note = pickle.load(self.file)  # noqa: S301  nobody else has the file
        return note
