"""What a zip that is being written says of its entries at its end, on the disk until then."""

import pickle
import tempfile
from collections.abc import Iterator
from zipfile import ZipFile, ZipInfo


class Entries(list[ZipInfo]):
    """A list that holds nothing in memory: it grows, and is read once, from its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.length = tempfile.TemporaryFile(), 0  # noqa: SIM115  closed when it was read, or is not wanted

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


def without_memory(zip: ZipFile) -> ZipFile:
    """A zip that is written and never read: what `zipfile` keeps of each entry would be half a kilobyte."""
    zip.filelist, zip.NameToInfo = Entries(), Forgotten()
    return zip
