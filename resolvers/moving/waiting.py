"""Folders that an import has yet to look into: there may be as many of them as of notes."""

import os

from db.shelf import Shelf, shelf_statements

WAITING = shelf_statements("waiting")


class Waiting:
    """The last one is taken first, so that what waits are the folders beside those on the way to it."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        shelf.make(WAITING["make_tables"])

    def add(self, folder: str) -> None:
        self.shelf.put(WAITING["add_folder"], folder=os.fsencode(folder))

    def take(self) -> str | None:
        """None when none is left."""
        if row := self.shelf.first(WAITING["find_last"]):
            self.shelf.put(WAITING["drop_folder"], id=row[0])
            return os.fsdecode(row[1])
        return None
