"""A stand-in for an embedding model, and the embedding server of a wiki that uses it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from resolvers.embeddings import vectors
from resolvers.embeddings.embedder import USED, use
from resolvers.embeddings.server import EmbeddingServer
from tests.resolvers.embeddings.embedding_server import EmbeddingModel, serve_embeddings
from tests.wiki import Wiki


@pytest.fixture
def model() -> Iterator[EmbeddingModel]:
    with serve_embeddings(EmbeddingModel()) as model:
        yield model


@pytest.fixture
async def embedder(wiki: Wiki, model: EmbeddingModel) -> AsyncIterator[EmbeddingServer]:
    """The embedding server that searches and jobs of the wiki use."""
    server = EmbeddingServer(model.url, "tiny", model.dimensions, timeout=2, batch=4)
    await vectors.enable(wiki.database, model.dimensions)
    use(wiki.database, server)
    yield server
    USED.pop(wiki.database, None)
