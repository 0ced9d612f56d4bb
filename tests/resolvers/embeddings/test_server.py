"""An embedding server over real HTTP: the requests that it gets, and how each of its responses is handled."""

import ssl

import pytest

from resolvers.embeddings.server import TEXT_LONGEST, EmbeddingServer, endpoint
from resolvers.errors import BadInput, Unavailable
from tests.resolvers.embeddings.embedding_server import KEY, EmbeddingModel, vector


def server(model: EmbeddingModel, **options: float) -> EmbeddingServer:
    return EmbeddingServer(model.url, "tiny", model.dimensions, key=KEY, **options)


async def test_texts_are_embedded_in_batches_and_returned_in_order(model: EmbeddingModel) -> None:
    texts = [f"text {n}" for n in range(7)]
    assert await server(model, batch=3).embed(texts) == [vector(text, 64) for text in texts]
    assert [len(body["input"]) for body in model.requests] == [3, 3, 1]
    assert {body["model"] for body in model.requests} == {"tiny"}
    assert {headers["authorization"] for headers in model.headers} == {f"Bearer {KEY}"}


async def test_a_long_text_is_cut(model: EmbeddingModel) -> None:
    await server(model).embed(["x" * 100_000])
    assert model.texts == ["x" * TEXT_LONGEST]


async def test_a_batch_that_is_too_long_for_the_model_is_halved(model: EmbeddingModel) -> None:
    model.set_behaviours("short requests")
    texts = ["kiln " * 120, "glaze " * 110, "clay", "wheel " * 1_000]
    found = await server(model).embed(texts)
    assert found[:3] == [vector(text, 64) for text in texts[:3]]
    first_part = model.texts[-1]
    assert texts[3].startswith(first_part)
    assert found[3] == vector(first_part, 64)


async def test_a_batch_that_is_refused_however_short_it_is_raises_the_error(model: EmbeddingModel) -> None:
    model.set_behaviours("invalid")
    with pytest.raises(Unavailable, match="status 422"):
        await server(model).embed(["kiln " * 1_000, "clay"])
    assert len(model.requests) < 10


@pytest.mark.parametrize(("behaviour", "timeout"), [("busy", 30), ("broken", 30), ("slowly", 1)])
async def test_a_temporary_error_is_retried(model: EmbeddingModel, behaviour: str, timeout: float) -> None:
    model.set_behaviours(behaviour, "well")
    assert len(await server(model, timeout=timeout).embed(["a text"])) == 1
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "requests", "message"),
    [
        ("busy", 3, "status 429"),
        ("broken", 3, "status 500"),
        ("slowly", 3, "did not answer in time"),
        ("refused", 1, "CAIRN_EMBEDDING_KEY"),
        ("moved", 1, "status 302"),
        ("garbage", 1, "has no embeddings"),
        ("nothing", 1, "has no embeddings"),
        ("list", 1, "has no embeddings"),
        ("texts", 1, "has no embeddings"),
        ("not a number", 1, "has no embeddings"),
        ("wrong dimension", 1, "CAIRN_EMBEDDING_DIMENSIONS=2"),
        ("no direction", 1, "no direction"),
        ("huge", 1, "no direction"),
    ],
)
async def test_each_bad_response_is_an_error_that_names_its_cause(
    model: EmbeddingModel, behaviour: str, requests: int, message: str
) -> None:
    model.set_behaviours(behaviour)
    with pytest.raises(Unavailable, match=message):
        await server(model, timeout=0.2 if behaviour == "slowly" else 30).embed(["a text"])
    assert len(model.requests) == requests
    assert await server(model, wait=0.2).of_question("a text") is None, "a search goes on with words"


async def test_a_query_embedding_times_out_and_is_cached(model: EmbeddingModel) -> None:
    embedding_server = server(model, wait=0.5)
    model.set_behaviours("slowly")
    assert await embedding_server.of_question("where is it") is None
    model.set_behaviours("well")
    first = await embedding_server.of_question("where is it")
    assert first == await embedding_server.of_question("where is it") == vector("where is it", 64)
    assert len(model.requests) == 1
    counts = embedding_server.counts
    assert (counts.late, counts.embedded, counts.cached, counts.failed) == (1, 1, 1, 0)


async def test_an_unreachable_server_does_not_fail_a_search() -> None:
    unreachable = EmbeddingServer("http://127.0.0.1:9", "tiny", 64)
    assert await unreachable.of_question("where is it") is None
    with pytest.raises(Unavailable, match="cannot be reached"):
        await unreachable.embed(["a text"])


def test_the_url_may_be_that_of_the_server_or_of_its_api() -> None:
    for url in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/embeddings"):
        assert endpoint(url) == "http://h:1/v1/embeddings"
    assert endpoint("https://h/openai/v1") == "https://h/openai/v1/embeddings"
    for url in ("h:1", "ftp://h", ""):
        with pytest.raises(BadInput):
            endpoint(url)


async def test_a_broken_tls_connection_does_not_fail_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    async def break_off(*_: object) -> None:
        raise ssl.SSLError(1, "[SSL: DECRYPTION_FAILED_OR_BAD_RECORD_MAC] decryption failed or bad record mac")

    monkeypatch.setattr("resolvers.embeddings.server.PAUSE", 0.01)
    monkeypatch.setattr("httpx.AsyncHTTPTransport.handle_async_request", break_off)
    broken = EmbeddingServer("https://embeddings.example", "tiny", 64)
    assert await broken.of_question("where is it") is None
    with pytest.raises(Unavailable, match="cannot be reached"):
        await broken.embed(["a text"])
