"""Looks up the text of a document by its name, and decides which texts are executed at all."""

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal
from uuid import UUID

from ..http.request import DocumentId, GraphQLRequest, Refused
from .folder import DocumentsBroken, load_trusted

COUNT = 4096
BYTES = 16_000_000
LONGEST = 400_000
"""Bytes of one text: more is no document that would be executed."""


class Registrations:
    """A cache of texts by tenant and hash, so that no tenant learns what another asks. The least recently used texts
    are dropped first."""

    def __init__(self, count: int = COUNT, size: int = BYTES) -> None:
        """Limit the cache to `count` texts, and to `size` bytes of all texts together."""
        self.count, self.size, self.held = count, size, 0
        self.texts: OrderedDict[tuple[UUID, str], bytes] = OrderedDict()

    def find(self, tenant_id: UUID, digest: str) -> str | None:
        text = self.texts.get((tenant_id, digest))
        if text is None:
            return None
        self.texts.move_to_end((tenant_id, digest))
        return text.decode()

    def keep(self, tenant_id: UUID, digest: str, text: bytes) -> None:
        """Store a text under its digest. The caller has checked it, so nothing can be put under another's name."""
        if (tenant_id, digest) in self.texts or len(text) > LONGEST:
            return
        self.texts[tenant_id, digest] = text
        self.held += len(text)
        while self.held > self.size or len(self.texts) > self.count:
            _, gone = self.texts.popitem(last=False)
            self.held -= len(gone)


Policy = Literal["any", "apq", "trusted"]


class Documents:
    """The documents that a process serves. The folder is read here, once."""

    def __init__(self, policy: Policy, folder: Path | None = None) -> None:
        if policy == "trusted" and folder is None:
            raise DocumentsBroken("CAIRN_DOCUMENTS=trusted needs CAIRN_DOCUMENTS_DIR: the folder of what is trusted.")
        self.policy, self.are_trusted_only = policy, policy == "trusted"
        self.trusted: Mapping[str, str] = {} if folder is None else load_trusted(folder)
        self.texts = frozenset(self.trusted.values())
        self.registrations = Registrations()

    def resolve(self, request: GraphQLRequest, tenant_id: UUID) -> GraphQLRequest:
        """Return the operation with its text, which a document of that name has if it names one; or raise Refused."""
        name = request.document
        if name is not None and not request.query:
            request = request._replace(query=self.find(name, tenant_id))
        elif name is not None:
            self.register(name, request.query, tenant_id)
        if self.are_trusted_only and request.query not in self.texts:
            raise untrusted()
        return request

    def find(self, name: DocumentId, tenant_id: UUID) -> str:
        text = self.trusted.get(name.id) or self.registrations.find(tenant_id, name.id)
        if text is not None:
            return text
        if self.are_trusted_only:
            raise untrusted()
        if not name.automatic:
            raise Refused(400, "There is no document of this id. Send its text as query.", "PERSISTED_QUERY_NOT_FOUND")
        # Apollo's clients look for these very words, and some of them only in an answer with the status 200.
        if self.policy == "any":
            raise Refused(200, "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
        raise Refused(200, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")

    def register(self, name: DocumentId, text: str, tenant_id: UUID) -> None:
        """Register the text under the hash that it has; refuse it under any other."""
        if not name.automatic:
            raise Refused(400, "Send either a documentId or a query.")
        encoded = text.encode(errors="surrogatepass")
        if sha256(encoded).hexdigest() != name.id:
            message = "extensions.persistedQuery.sha256Hash is not the SHA-256 of this query."
            raise Refused(400, message, "PERSISTED_QUERY_HASH_MISMATCH")
        if self.policy == "apq":
            self.registrations.keep(tenant_id, name.id, encoded)


def untrusted() -> Refused:
    message = "This service executes trusted documents only. Use the id of one of them."
    return Refused(403, message, "DOCUMENT_NOT_TRUSTED")
