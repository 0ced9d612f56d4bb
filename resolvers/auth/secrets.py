"""Secrets that programs and readers present: codes, tokens, share links and API keys. Only their hashes are stored.

A secret of a tenant begins with its id, so the statement that looks it up is bound to the tenant like all others.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from secrets import token_bytes
from uuid import UUID

TENANT_BYTES, SECRET_BYTES = 16, 32


def new_secret(tenant_id: UUID) -> str:
    """Return a new secret of a tenant."""
    return urlsafe_b64encode(tenant_id.bytes + token_bytes(SECRET_BYTES)).decode()


def tenant_of(secret: str) -> UUID | None:
    """Return the tenant of a secret, or None for any other text."""
    try:
        data = urlsafe_b64decode(secret.encode("ascii"))
    except ValueError:
        return None
    if len(data) != TENANT_BYTES + SECRET_BYTES or urlsafe_b64encode(data).decode() != secret:
        return None
    return UUID(bytes=data[:TENANT_BYTES])


def hash_secret(secret: str) -> bytes:
    """Return the hash that is stored instead of a secret."""
    return sha256(secret.encode()).digest()
