"""The embedding server of the settings."""

from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.embeddings.server import EmbeddingServer


def embedder_of(settings: Settings) -> "EmbeddingServer | None":
    """Return the server, or None where none is set: then search knows words alone."""
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
    """Let searches of the database ask the server of the settings, if there is one."""
    embedder = embedder_of(settings)
    if embedder is not None:
        from resolvers.embeddings.embedder import use

        use(database, embedder)
    return embedder
