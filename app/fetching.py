"""Sets up the fetching of URLs for ingests from the settings."""

from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from db.database import Database


def use_fetching(settings: Settings, database: "Database") -> None:
    """Allow ingests to fetch URLs of the hosts in the settings. Without such hosts they fetch nothing."""
    if settings.ingest_hosts:
        from resolvers.ingest.fetching import Fetcher
        from resolvers.ingest.ingest import let_fetch

        let_fetch(database, Fetcher(settings.ingest_hosts).fetch)
