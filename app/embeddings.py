"""Sets up the embedding server from the settings."""

from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.embeddings.server import EmbeddingServer


def embedder_of(settings: Settings) -> "EmbeddingServer | None":
    """Return the embedding server, or None if the settings have none. Search then ranks by words only."""
    if settings.embedding_url is None or settings.embedding_model is None or settings.embedding_dimensions is None:
        return None
    from resolvers.embeddings.server import EmbeddingServer

    return EmbeddingServer(
        settings.embedding_url,
        settings.embedding_model,
        settings.embedding_dimensions,
        key=settings.embedding_key.get_secret_value() if settings.embedding_key else None,
        timeout=settings.embedding_timeout,
        wait=settings.embedding_wait,
        batch=settings.embedding_batch,
    )


def use_embeddings(settings: Settings, database: "Database") -> "EmbeddingServer | None":
    """Make searches of the database use the embedding server of the settings, if there is one, and return it."""
    embedder = embedder_of(settings)
    if embedder is not None:
        from resolvers.embeddings.embedder import use

        use(database, embedder)
    return embedder
