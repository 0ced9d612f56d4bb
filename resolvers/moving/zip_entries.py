"""What a zip that is being written says of its entries at its end, on the disk until then."""

import pickle
import tempfile
from collections.abc import Iterator
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo


class Entries(list[ZipInfo]):
    """A list that holds nothing in memory: it grows, and is read once, from its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.length = tempfile.TemporaryFile(), 0  # noqa: SIM115  closed when it was read, or by `abandon`

    def append(self, entry: ZipInfo) -> None:
        pickle.dump(entry, self.file, pickle.HIGHEST_PROTOCOL)
        self.length += 1

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[ZipInfo]:
        with self.file as file:
            file.seek(0)
            for _ in range(self.length):
                yield pickle.load(file)  # noqa: S301  nobody else has the file


class Forgotten(dict[str, ZipInfo]):
    """Names that are not looked up: an export gives each one once."""

    def __setitem__(self, name: str, entry: ZipInfo) -> None:
        """Nothing is kept."""


class GrowingZip(ZipFile):
    """A zip that is written and never read: what `zipfile` keeps of each entry would be half a kilobyte."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, "w", ZIP_DEFLATED)
        self.entries = Entries()
        self.filelist, self.NameToInfo = self.entries, Forgotten()

    def abandon(self) -> None:
        """Where it was broken off, or the collector would finish it, and complain that nothing can be written."""
        self.fp = None
        self.entries.file.close()
