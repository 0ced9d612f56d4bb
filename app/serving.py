"""Serving until told to stop: one process, or several on one socket."""

import errno
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress

from uvicorn.protocols.http import httptools_impl
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from db.deadlines import Deadlines
from resolvers.errors import CairnError

from .asgi import create_app
from .connections import Connection
from .draining import DRAINING, Config, Server, Worker
from .exchange import Exchange
from .heads import Heads
from .logging import configure
from .settings import Settings

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104
START = 60  # seconds that a worker is given to start
LEAVING = 0.2  # seconds that one is given to leave which has not started, before those are told that have
NOT_HERE = {errno.EADDRNOTAVAIL, errno.EINVAL}
SILENT = 30  # seconds without a sign of life after which a worker is replaced
httptools_impl.RequestResponseCycle = Exchange  # type: ignore[misc]  # the only way to say what uvicorn makes


class AddressTaken(CairnError):
    """Somebody else listens there."""

    code = "ADDRESS_TAKEN"


class NoSuchAddress(CairnError):
    """It is none of this machine's."""

    code = "BAD_SETTING"


def serve(settings: Settings, dsn: str, on_ready: Callable[[str], None] = lambda url: None) -> None:
    """Serve until SIGINT or SIGTERM, finish what is in flight, return. `on_ready` gets the URL once it answers."""
    configure(settings)
    listening = bind(settings.host, settings.port)
    url = address(settings.host, listening)
    try:
        if settings.workers == 1:
            serve_alone(settings, dsn, listening, lambda: on_ready(url))
        else:
            serve_together(settings, dsn, listening, lambda: on_ready(url))
    finally:
        listening.close()


def serve_alone(settings: Settings, dsn: str, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    server = Announcing(options(create_app(settings, dsn=dsn), settings), on_ready)
    stopped_by(lambda: server.run(sockets=[listening]))
    if not server.started:
        raise CairnError("The service did not start; the log above says why.")


def serve_together(settings: Settings, dsn: str, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    """The workers share nothing but the socket and Postgres."""
    with tempfile.TemporaryDirectory(prefix="cairn-metrics-") as folder:
        os.environ["CAIRN_DATABASE_URL"] = dsn
        os.environ["CAIRN_METRICS_DIR"] = str(settings.metrics_dir or folder)
        Workers(options("app.asgi:from_environment", settings), [listening], on_ready).run()


class Workers(Multiprocess):
    """Several processes; says when all of them answer."""

    def __init__(self, config: Config, sockets: list[socket.socket], on_ready: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self.on_ready = on_ready
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.pass_on)

    def pass_on(self, number: int, _: object) -> None:
        """At once."""
        self.signal_queue.append(number)
        DRAINING.is_on = True
        self.tell_all()

    def tell_all(self) -> None:
        """No longer holding the door open: the last to leave closes it, and that must be one that answers at it."""
        for listening in self.sockets:
            listening.close()
        for process in sorted(self.processes, key=has_started):
            if process.pid is None or process.exitcode is not None:
                continue
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            if not has_started(process):
                process.process.join(LEAVING)

    def keep_subprocess_alive(self) -> None:
        """A worker that was made while all were told to stop has not been told."""
        if not DRAINING.is_on:
            super().keep_subprocess_alive()
            if DRAINING.is_on:
                self.tell_all()

    def init_processes(self) -> None:
        super().init_processes()
        if all(process.wait_until_ready(START) for process in self.processes):
            self.on_ready()


def has_started(process: Process) -> bool:
    return isinstance(process, Worker) and process.has_started


class Announcing(Server):
    """Says when it answers."""

    def __init__(self, config: Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.on_ready()


def options(app: object, settings: Settings) -> Config:
    config = Config(
        app,  # type: ignore[arg-type]
        factory=isinstance(app, str),
        http=Connection,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=settings.keep_alive,  # type: ignore[arg-type]  # it takes parts of a second, as below
        timeout_graceful_shutdown=settings.drain_timeout,  # type: ignore[arg-type]
        timeout_worker_healthcheck=SILENT,
        proxy_headers=settings.forwarded_allow_ips is not None,
        forwarded_allow_ips=settings.forwarded_allow_ips or [],
        ws_max_size=settings.max_body,
        ws_per_message_deflate=False,  # it keeps a window for each connection, and answers are small
    )
    config.drain_delay = settings.drain_delay
    config.heads, config.idle = Heads(), Deadlines(Connection.timeout_keep_alive_handler)
    return config


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, or asyncio does not see that it is TCP, and Nagle's algorithm holds back what follows a first packet.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        where = f"Cannot listen on {host}:{port} ({error.strerror})."
        if isinstance(error, socket.gaierror) or error.errno in NOT_HERE:
            raise NoSuchAddress(f"{where} Name an address of this machine with --host or CAIRN_HOST.") from None
        raise AddressTaken(f"{where} Choose another with --port or CAIRN_PORT.") from None
    listening.set_inheritable(True)
    return listening


def address(host: str, listening: socket.socket) -> str:
    """The URL for a browser on this machine."""
    host = EVERYWHERE.get(host, host)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def stopped_by(run: Callable[[], None]) -> None:
    """uvicorn raises the signal again once it has drained; here it has done its work."""
    handled = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        run()
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
