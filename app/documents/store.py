"""Looks up the text of a document by its id, and decides which documents may be executed."""

import asyncio
import signal
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal
from uuid import UUID

import structlog

from ..http.request import DocumentId, GraphQLRequest, Refused
from .folder import DocumentsBroken, load_trusted

log = structlog.get_logger()
COUNT = 4096
BYTES = 16_000_000
TEXT_MAX = 400_000
"""Bytes of a text. A longer document would exceed the limits of execution."""


class Registrations:
    """A cache of registered texts by tenant and hash, which evicts the least recently used text.

    Tenants are separate, so that no tenant learns which documents another tenant uses.
    """

    def __init__(self, max_count: int = COUNT, max_size: int = BYTES) -> None:
        """Limit the cache to `max_count` texts, and to `max_size` bytes of all texts together."""
        self.max_count, self.max_size, self.total_size = max_count, max_size, 0
        self.texts: OrderedDict[tuple[UUID, str], bytes] = OrderedDict()

    def get(self, tenant_id: UUID, digest: str) -> str | None:
        text = self.texts.get((tenant_id, digest))
        if text is None:
            return None
        self.texts.move_to_end((tenant_id, digest))
        return text.decode()

    def put(self, tenant_id: UUID, digest: str, text: bytes) -> None:
        """Store a text under its digest, which the caller must have verified. A text that is too long is ignored."""
        if (tenant_id, digest) in self.texts or len(text) > TEXT_MAX:
            return
        self.texts[tenant_id, digest] = text
        self.total_size += len(text)
        while self.total_size > self.max_size or len(self.texts) > self.max_count:
            _, evicted = self.texts.popitem(last=False)
            self.total_size -= len(evicted)


Policy = Literal["any", "apq", "trusted"]


class Documents:
    """The documents that this process executes. The folder of trusted documents is read at the start and at SIGHUP."""

    def __init__(self, policy: Policy, folder: Path | None = None) -> None:
        if policy == "trusted" and folder is None:
            raise DocumentsBroken("CAIRN_DOCUMENTS=trusted needs CAIRN_DOCUMENTS_DIR: the folder of what is trusted.")
        self.policy, self.are_trusted_only, self.folder = policy, policy == "trusted", folder
        self.trusted: Mapping[str, str] = {} if folder is None else load_trusted(folder)
        self.texts = frozenset(self.trusted.values())
        self.registrations = Registrations()

    @contextmanager
    def reloading(self) -> Iterator[None]:
        """Read the folder again at each SIGHUP during the block. Without a folder, the signal ends the process."""
        if self.folder is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        before = signal.signal(
            signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(loop.run_in_executor, None, self.reload)
        )
        try:
            yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def reload(self) -> None:
        """Read the folder again. If it has a fault, which is logged, the documents that were read before stay."""
        assert self.folder is not None
        try:
            trusted = load_trusted(self.folder)
        except DocumentsBroken as error:
            log.error("trusted documents were not read again", reason=str(error))
            return
        self.texts = frozenset(trusted.values())
        self.trusted = trusted

    def resolve(self, request: GraphQLRequest, tenant_id: UUID) -> GraphQLRequest:
        """Return the request with the text of the document that it names, or register the text that it sends.

        Raises Refused if there is no such document, or if it may not be executed.
        """
        document_id = request.document
        if document_id is not None and not request.query:
            request = request._replace(query=self.text_of(document_id, tenant_id))
        elif document_id is not None:
            self.register(document_id, request.query, tenant_id)
        if self.are_trusted_only and request.query not in self.texts:
            raise untrusted()
        return request

    def text_of(self, document_id: DocumentId, tenant_id: UUID) -> str:
        """Return the text of a trusted or registered document. Raises Refused if there is none."""
        text = self.trusted.get(document_id.id) or self.registrations.get(tenant_id, document_id.id)
        if text is not None:
            return text
        if self.are_trusted_only:
            raise untrusted()
        if not document_id.automatic:
            raise Refused(400, "There is no document of this id. Send its text as query.", "PERSISTED_QUERY_NOT_FOUND")
        # Apollo's clients compare these messages literally, and some of them only in a response with the status 200.
        if self.policy == "any":
            raise Refused(200, "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
        raise Refused(200, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")

    def register(self, document_id: DocumentId, text: str, tenant_id: UUID) -> None:
        """Register a text under its hash, if the policy allows it. Raises Refused if the id is not its hash."""
        if not document_id.automatic:
            raise Refused(400, "Send either a documentId or a query.")
        encoded = text.encode(errors="surrogatepass")
        if sha256(encoded).hexdigest() != document_id.id:
            message = "extensions.persistedQuery.sha256Hash is not the SHA-256 of this query."
            raise Refused(400, message, "PERSISTED_QUERY_HASH_MISMATCH")
        if self.policy == "apq":
            self.registrations.put(tenant_id, document_id.id, encoded)


def untrusted() -> Refused:
    message = "This service executes trusted documents only. Use the id of one of them."
    return Refused(403, message, "DOCUMENT_NOT_TRUSTED")
