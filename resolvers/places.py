"""In whose wiki a page lies, remembered: a page never moves to another wiki, and no id is used twice."""

from uuid import UUID
from weakref import WeakKeyDictionary

from db.database import Database
from db.one_transaction import OneTransaction
from selection.lru import LRU

MOST = 10_000  # pages of one database

REMEMBERED: WeakKeyDictionary[Database, LRU[UUID]] = WeakKeyDictionary()


def places(database: Database) -> LRU[UUID]:
    """The owners of pages by (tenant, page). A page that is gone may still be here: look before you write."""
    if isinstance(database, OneTransaction):
        database = database.database
    known = REMEMBERED.get(database)
    return REMEMBERED.setdefault(database, LRU(MOST)) if known is None else known
