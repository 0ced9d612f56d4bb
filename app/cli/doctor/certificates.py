"""The certificate checks of `cairn doctor`: servers that Cairn calls over TLS, and its public URL."""

import socket
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from cryptography import x509

from ...settings import Settings
from .findings import Finding, failed, passed, warned

CERTIFICATE_DAYS_MIN = 14  # days
ENCRYPTED = ("require", "verify-ca", "verify-full")
SSL_REQUEST = (8).to_bytes(4) + (80877103).to_bytes(4)  # the message by which a PostgreSQL client asks for TLS
TIMEOUT = 5.0  # seconds to connect

Place = tuple[str, int]  # host and port of a server


def check_certificates(settings: Settings) -> Iterator[Finding]:
    """Check the certificates of the servers that Cairn calls over TLS and of CAIRN_PUBLIC_URL, which clients call."""
    called = (settings.jwks_url, settings.oidc_issuer, settings.embedding_url)
    dsns = filter(None, (settings.database_url, settings.listen_url, *(settings.read_database_urls or ())))
    try:
        servers = {tls_server(settings.public_url): warned} | dict.fromkeys(map(tls_server, called), failed)
        databases = dict.fromkeys(place for dsn in dsns for place in tls_databases(dsn))
    except ValueError:
        yield failed("certificates", "A URL has an impossible host or port.", "Correct the setting: cairn settings")
        return
    for server, report_unreachable in servers.items():  # this machine need not be able to reach the public URL
        if server is not None:
            yield check_certificate(server, find_certificate_expiry, report_unreachable)
    for place in databases:
        yield check_certificate(place, find_database_certificate_expiry, warned)


def check_certificate(
    place: Place, find_expiry: Callable[[Place], datetime], report_unreachable: Callable[..., Finding]
) -> Finding:
    name = f"{place[0]}:{place[1]}"
    try:
        days = (find_expiry(place) - datetime.now(UTC)) / timedelta(days=1)
    except (OSError, UnicodeError) as error:  # UnicodeError: a label of the host is empty or too long
        report = report_unreachable if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else failed
        return report("certificates", f"{name} cannot be called: {error}.", "Check its address and its certificate.")
    if days < CERTIFICATE_DAYS_MIN:
        ends = f"expires in {days:.0f} days" if days > 0 else "has expired"
        return warned("certificates", f"The certificate of {name} {ends}.", "Renew the certificate.")
    return passed("certificates", f"The certificate of {name} is valid for {days:.0f} days.")


def tls_server(address: str | None) -> Place | None:
    """Return host and port of an https address, or None for any other address."""
    parts = urlsplit(address or "")
    return (parts.hostname, parts.port or 443) if parts.scheme == "https" and parts.hostname else None


def tls_databases(dsn: str) -> Iterator[Place]:
    """Yield host and port of each server of a DSN whose `sslmode` requires TLS."""
    parts = urlsplit(dsn)
    if parse_qs(parts.query).get("sslmode", ["prefer"])[0] in ENCRYPTED:
        for server in parts.netloc.rpartition("@")[2].split(","):
            if found := urlsplit(f"//{server}").hostname:
                yield found, urlsplit(f"//{server}").port or 5432


def find_certificate_expiry(place: Place) -> datetime:
    """Verify the certificate of a server and return when it expires. Raises OSError."""
    context = ssl.create_default_context()
    with (
        socket.create_connection(place, TIMEOUT) as plain,
        context.wrap_socket(plain, server_hostname=place[0]) as secured,
    ):
        return expiry_of(secured)


def find_database_certificate_expiry(place: Place) -> datetime:
    """Return when the certificate of a PostgreSQL server expires, without verifying it. Raises OSError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(place, TIMEOUT) as plain:
        plain.sendall(SSL_REQUEST)
        if plain.recv(1) != b"S":
            raise ConnectionError("it offers no TLS")
        with context.wrap_socket(plain, server_hostname=place[0]) as secured:
            return expiry_of(secured)


def expiry_of(secured: ssl.SSLSocket) -> datetime:
    return x509.load_der_x509_certificate(secured.getpeercert(True) or b"").not_valid_after_utc
