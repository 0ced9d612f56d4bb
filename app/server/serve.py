"""Serves the application until it is told to stop, with one process or with several on the same socket."""

import errno
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from starlette.types import ASGIApp

from resolvers.errors import CairnError, Unavailable

from ..observability.logging import configure
from ..settings import Settings
from ..subscriptions.messages import BoundedWebSocket
from .protocol import Config, HTTPConnection
from .server import Server
from .workers import Workers

WILDCARDS = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104
NOT_LOCAL = {errno.EADDRNOTAVAIL, errno.EINVAL}
HEALTHCHECK_TIMEOUT = 30  # seconds without an answer after which a worker is replaced


class AddressTaken(CairnError):
    """Another process listens on this address."""

    code = "ADDRESS_TAKEN"


class NoSuchAddress(CairnError):
    """The address does not belong to this machine."""

    code = "BAD_SETTING"


def serve(
    settings: Settings, dsn: str, on_ready: Callable[[str], None] = lambda url: None, app: ASGIApp | None = None
) -> None:
    """Serve the service, or the given application in a single process, until SIGINT or SIGTERM; then drain and return.

    `on_ready` is called with the URL once the server answers.
    """
    configure(settings)
    listening = bind(settings.host, settings.port)
    url = local_url(settings.host, listening)
    try:
        if app is not None or settings.workers == 1:
            serve_in_process(settings, app or make_app(settings, dsn), listening, lambda: on_ready(url))
        else:
            serve_with_workers(settings, dsn, listening, lambda: on_ready(url))
    finally:
        listening.close()


def make_app(settings: Settings, dsn: str) -> ASGIApp:
    from ..asgi import create_app  # imported only where requests are executed, and not in the parent of workers

    return create_app(settings, dsn=dsn)


def serve_in_process(settings: Settings, app: ASGIApp, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    server = AnnouncingServer(config_of(app, settings), on_ready)
    run_until_stopped(lambda: server.run(sockets=[listening]))
    if not server.started:
        raise Unavailable("The service did not start; the log above says why.")


def serve_with_workers(settings: Settings, dsn: str, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve with several processes, which share only the socket, the folder of metrics and Postgres."""
    with metrics_folder() as folder:
        config = config_of("app.asgi:from_environment", settings)
        config.environment = {
            "CAIRN_DATABASE_URL": dsn,
            "CAIRN_METRICS_DIR": str(settings.metrics_dir or folder),
        }
        if settings.local_token:
            config.environment["CAIRN_LOCAL_TOKEN"] = settings.local_token.get_secret_value()
        workers = Workers(config, [listening], on_ready)
        workers.run()
    if workers.is_hopeless:
        raise Unavailable("No worker could start; the log above says why.")


METRICS_PREFIX = "cairn-metrics-"
LOCK_FILE = "owner"


@contextmanager
def metrics_folder() -> Iterator[str]:
    """Create the folder in which the processes of a service share their metrics, and remove it after the block.

    The service holds a lock on a file in it, by which abandoned folders of killed services are recognised, also by
    processes in another container. They are removed here.
    """
    remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=METRICS_PREFIX) as name:
        unlocked = Path(name) / "new"
        with unlocked.open("wb") as lock:
            with suppress(OSError):  # some file systems have no locks; a folder without a LOCK_FILE is never removed
                flock(lock, LOCK_EX | LOCK_NB)
                unlocked.rename(unlocked.with_name(LOCK_FILE))
            yield name


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of metrics whose service has ended, except those of other users and of older versions."""
    for lock_file in parent.glob(f"{METRICS_PREFIX}*/{LOCK_FILE}"):
        with suppress(OSError), lock_file.open("rb+") as lock:
            flock(lock, LOCK_EX | LOCK_NB)  # raises OSError while the service runs
            shutil.rmtree(lock_file.parent)


class AnnouncingServer(Server):
    """A server that calls `on_ready` once it answers requests."""

    def __init__(self, config: Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.on_ready()


def config_of(app: object, settings: Settings) -> Config:
    """Return uvicorn's configuration for an application, or for the import string of a function that creates it."""
    config = Config(
        app,  # type: ignore[arg-type]
        factory=isinstance(app, str),
        lifespan="on",  # "auto" would treat a failed startup as an application without a lifespan
        http=HTTPConnection,
        ws=BoundedWebSocket,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=settings.keep_alive,  # type: ignore[arg-type]  # fractions of a second work, also below
        timeout_graceful_shutdown=settings.drain_timeout,  # type: ignore[arg-type]
        timeout_worker_healthcheck=HEALTHCHECK_TIMEOUT,
        proxy_headers=settings.forwarded_allow_ips is not None,
        forwarded_allow_ips=settings.forwarded_allow_ips or [],
        ws_max_size=settings.max_body,
        ws_per_message_deflate=False,  # it needs memory for each connection, and messages are small
    )
    config.drain_delay = settings.drain_delay
    return config


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to the address. Raises AddressTaken or NoSuchAddress."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only for sockets that were created with IPPROTO_TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        where = f"Cannot listen on {host}:{port} ({error.strerror})."
        if isinstance(error, socket.gaierror) or error.errno in NOT_LOCAL:
            raise NoSuchAddress(f"{where} Name an address of this machine with --host or CAIRN_HOST.") from None
        raise AddressTaken(f"{where} Choose another with --port or CAIRN_PORT.") from None
    listening.set_inheritable(True)
    return listening


def local_url(host: str, listening: socket.socket) -> str:
    """Return the URL for a browser on this machine."""
    host = WILDCARDS.get(host, host)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def run_until_stopped(run: Callable[[], None]) -> None:
    """Run a server, and ignore the signal that it raises again after it has drained."""
    handled = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        run()
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
