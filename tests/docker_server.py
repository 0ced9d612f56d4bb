"""Postgres in Docker, for machines where an engine answers."""

import subprocess

IMAGE = "pgvector/pgvector:pg18"
ANSWERS_WITHIN = 2  # seconds that an engine has to say it is there


def docker_answers() -> bool:
    try:
        asked = subprocess.run(["docker", "info"], capture_output=True, timeout=ANSWERS_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def start_container() -> str:
    """Its id and its DSN. The reaper would remove it when the worker that started it ends."""
    # Half a second of imports, which every other run is spared.
    from testcontainers.community.postgres import PostgresContainer
    from testcontainers.core.config import testcontainers_config

    testcontainers_config.ryuk_disabled = True
    # Statistics that autovacuum takes in the middle of a test change its plans.
    command = "postgres -c fsync=off -c full_page_writes=off -c autovacuum=off"
    server = PostgresContainer(IMAGE, driver=None).with_command(command).start()
    return f"{server.get_wrapped_container().id} {server.get_connection_url()}"


def remove_container(container: str) -> None:
    subprocess.run(["docker", "rm", "--force", "--volumes", container.partition(" ")[0]], check=True)
