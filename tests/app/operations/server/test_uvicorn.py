"""Tests that uvicorn has the undocumented methods and attributes that app/server uses."""

import inspect

import pytest
from uvicorn import server
from uvicorn.config import Config
from uvicorn.protocols.http import flow_control, httptools_impl
from uvicorn.supervisors import multiprocess

from app.server.workers import Worker

PROTOCOL = httptools_impl.HttpToolsProtocol
PROCESS = Worker.__base__ or object
METHODS = {
    PROTOCOL: [
        "_should_upgrade", "_unset_keepalive_if_required", "_unsupported_upgrade_warning", "connection_made",
        "handle_websocket_upgrade", "on_body", "on_headers_complete", "on_message_complete", "send_400_response",
        "shutdown", "timeout_keep_alive_handler",
    ],
    flow_control.FlowControl: ["pause_reading", "resume_reading"],
    server.Server: ["handle_exit", "run", "shutdown", "startup"],
    PROCESS: ["_healthcheck", "is_alive", "server", "start", "wait_until_ready"],
    multiprocess.Multiprocess: ["init_processes", "keep_subprocess_alive", "run"],
}  # fmt: skip
ATTRIBUTES = {
    PROTOCOL: [
        "client", "config", "cycle", "flow", "headers", "loop", "parser", "server_state", "timeout_keep_alive",
        "timeout_keep_alive_task", "transport", "url",
    ],
    httptools_impl.RequestResponseCycle: ["response_complete"],
    server.Server: ["config", "force_exit", "lifespan", "server_state", "servers", "started"],
    server.ServerState: ["connections", "default_headers", "tasks"],
    PROCESS: ["_server", "child_conn", "process"],
    multiprocess.Multiprocess: ["processes", "signal_queue", "sockets"],
    Config: ["http_protocol_class"],
}  # fmt: skip
LOST = "uvicorn no longer has {owner}.{name}, which app/server uses: adapt app/server, or pin an older uvicorn."


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in METHODS.items() for name in names])
def test_a_method_that_is_overridden_or_called_exists(owner: type, name: str) -> None:
    assert hasattr(owner, name), LOST.format(owner=owner.__name__, name=name)


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in ATTRIBUTES.items() for name in names])
def test_an_attribute_that_is_read_or_set_exists(owner: type, name: str) -> None:
    source = inspect.getsource(owner)
    assert f"self.{name}" in source or hasattr(owner, name), LOST.format(owner=owner.__name__, name=name)


def test_the_class_of_the_workers_is_looked_up_in_the_module() -> None:
    assert "Process(self.config, self.sockets)" in inspect.getsource(multiprocess.Multiprocess)


def test_the_status_lines_exist() -> None:
    assert httptools_impl.STATUS_LINE[408] == b"HTTP/1.1 408 Request Timeout\r\n"
