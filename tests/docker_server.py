"""Runs Postgres in Docker, on machines with a Docker engine."""

import subprocess

IMAGE = "pgvector/pgvector:pg18"
ANSWERS_WITHIN = 2  # seconds within which an engine must respond


def is_docker_available() -> bool:
    try:
        result = subprocess.run(["docker", "info"], capture_output=True, timeout=ANSWERS_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def start_container() -> str:
    """Start a container and return its id and its DSN. Ryuk is disabled: it would remove it when this worker ends."""
    # These imports take half a second, which other runs do not need.
    from testcontainers.community.postgres import PostgresContainer
    from testcontainers.core.config import testcontainers_config

    testcontainers_config.ryuk_disabled = True
    # Statistics that autovacuum collects in the middle of a test change its plans.
    command = "postgres -c fsync=off -c full_page_writes=off -c autovacuum=off"
    server = PostgresContainer(IMAGE, driver=None).with_command(command).start()
    return f"{server.get_wrapped_container().id} {server.get_connection_url()}"


def remove_container(container: str) -> None:
    subprocess.run(["docker", "rm", "--force", "--volumes", container.partition(" ")[0]], check=True)
