"""Notes that wait on the disk, so that an import of many takes no more memory than one of few."""

import pickle
import tempfile
from dataclasses import dataclass
from types import TracebackType

from content.notes import Note

from .formats import Format


@dataclass(frozen=True, slots=True)
class Given:
    """The file of a note as it came. `says_all`: an export made it, and told the rest of its page beside it."""

    file: bytes
    body_start: int | None
    format: Format | None = None
    """The tool that an export says it is of."""
    is_respelled: bool | None = None
    """Whether the text of the page has other links than the file, where an export says so."""
    says_all: bool = False


class Spool:
    """Keeps notes in a file of its own, which is gone when the import is over."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  closed with the spool

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.file.close()

    def keep(self, note: Note, given: Given | None = None) -> int:
        """Where it is kept."""
        place = self.file.seek(0, 2)
        pickle.dump(note, self.file, pickle.HIGHEST_PROTOCOL)
        pickle.dump(given, self.file, pickle.HIGHEST_PROTOCOL)
        return place

    def take(self, place: int) -> Note:
        self.file.seek(place)
        note: Note = pickle.load(self.file)  # noqa: S301  nobody else has the file
        return note

    def take_given(self, place: int) -> Given | None:
        """The file of the note that is kept there; None where it came as a line."""
        self.take(place)
        given: Given | None = pickle.load(self.file)  # noqa: S301  nobody else has the file
        return given
