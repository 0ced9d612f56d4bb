"""Texts that clients have registered under their hash: a bounded cache of this process."""

from collections import OrderedDict
from uuid import UUID

COUNT = 4096
BYTES = 16_000_000
LONGEST = 400_000
"""Bytes of one text: more is no document that would be executed."""


class Registrations:
    """By tenant and hash, so that nobody learns from here what another tenant asks. The longest unused go first."""

    def __init__(self, count: int = COUNT, size: int = BYTES) -> None:
        """`size` in bytes of all texts together."""
        self.count, self.size, self.held = count, size, 0
        self.texts: OrderedDict[tuple[UUID, str], bytes] = OrderedDict()

    def find(self, tenant_id: UUID, digest: str) -> str | None:
        text = self.texts.get((tenant_id, digest))
        if text is None:
            return None
        self.texts.move_to_end((tenant_id, digest))
        return text.decode()

    def keep(self, tenant_id: UUID, digest: str, text: bytes) -> None:
        """The digest must have been found to be the text's own: so nothing can be put under another's name."""
        if (tenant_id, digest) in self.texts or len(text) > LONGEST:
            return
        self.texts[tenant_id, digest] = text
        self.held += len(text)
        while self.held > self.size or len(self.texts) > self.count:
            _, gone = self.texts.popitem(last=False)
            self.held -= len(gone)
