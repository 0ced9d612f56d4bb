"""The addresses that may be fetched for ingest, by the settings."""

from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from db.database import Database


def use_fetching(settings: Settings, database: "Database") -> None:
    """Let ingests of the database fetch addresses of the hosts that the operator names; of none, if none is named."""
    if settings.ingest_hosts:
        from resolvers.ingest.fetching import Fetcher
        from resolvers.ingest.ingest import let_fetch

        let_fetch(database, Fetcher(settings.ingest_hosts).fetch)
