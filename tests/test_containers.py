"""The compose file and the Dockerfile are consistent, as far as this can be checked without Docker."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.main import get_command

from app.cli.program import app
from app.settings import Settings

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text()


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return dict(YAML(typ="safe").load(COMPOSE_TEXT)["services"])


def test_lasting_services_have_a_health_check(services: dict[str, Any]) -> None:
    lasting = {name: service for name, service in services.items() if "restart" in service}
    assert {name for name in lasting if "profiles" not in services[name]} == {"postgres", "cairn", "worker"}
    assert set(services) - set(lasting) == {"migrate", "citus-nodes", "citus-migrate"}, "these end by themselves"
    assert all(service["healthcheck"]["test"][0] == "CMD" for service in lasting.values())


def test_cairn_waits_for_a_healthy_postgres_and_a_finished_migration(services: dict[str, Any]) -> None:
    for name in ("cairn", "worker"):
        assert services[name]["depends_on"] == {
            "postgres": {"condition": "service_healthy"},
            "migrate": {"condition": "service_completed_successfully"},
        }
    assert services["worker"]["command"] == ["worker", "--port", "8001"]
    assert services["migrate"]["command"] == ["migrate"]
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_services_depend_only_on_services_of_their_profile(services: dict[str, Any]) -> None:
    """Then `docker compose up SERVICE` starts everything that the service needs, and nothing else."""
    for name, service in services.items():
        own = {*service.get("profiles", ())}
        for other in service.get("depends_on", {}):
            assert {*services[other].get("profiles", ())} <= own, f"{name} needs {other}"
    profiles = {profile for service in services.values() for profile in service.get("profiles", ())}
    assert profiles == {"replica", "citus"}


def test_every_command_and_setting_of_a_service_exists(services: dict[str, Any]) -> None:
    commands = [*get_command(app).commands]  # type: ignore[attr-defined]
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields}
    ours = {name: service for name, service in services.items() if service["image"] == "cairn"}
    assert len(ours) == 6
    for name, service in ours.items():
        assert service.get("command", ["serve"])[0] in commands, name
        assert {*service["environment"]} <= known, name


def test_every_image_is_named_with_its_version(services: dict[str, Any]) -> None:
    images = {service["image"] for service in services.values()} - {"cairn"}
    assert len(images) == 3
    assert all(re.fullmatch(r"[\w/.-]+:\D*\d[\w.-]*", image) for image in images)
    assert all("." not in image.partition("/")[0] for image in images), "no registry is named"


def test_mounted_volumes_and_configs_are_declared() -> None:
    composed = YAML(typ="safe").load(COMPOSE_TEXT)
    services = composed["services"].values()
    volumes = {mount.partition(":")[0] for service in services for mount in service.get("volumes", ())}
    configs = {mount["source"] for service in services for mount in service.get("configs", ())}
    assert volumes == {*composed["volumes"]}
    assert configs == {*composed["configs"]}
    places = [tuple(service["volumes"]) for service in services if "volumes" in service]
    assert len(places) == len(set(places)), "no two servers share their data"


def test_the_coordinator_registers_every_citus_node(services: dict[str, Any]) -> None:
    registered = re.findall(r"citus_\w+\('([\w-]+)', 5432\)", " ".join(services["citus-nodes"]["command"]))
    assert registered == ["citus", "citus-worker-1", "citus-worker-2"]
    assert {*services["citus-nodes"]["depends_on"]} == {*registered}
    assert services["citus-migrate"]["depends_on"] == {"citus-nodes": {"condition": "service_completed_successfully"}}


def test_hosts_in_addresses_are_services(services: dict[str, Any]) -> None:
    hosts = re.findall(r"@([\w-]+):\d+/cairn", COMPOSE_TEXT) + re.findall(r"host[= ]([\w-]+)[ \n]", COMPOSE_TEXT)
    assert {"postgres", "pgbouncer", "replica", "citus"} <= {*hosts} <= {*services, "replication"}


def test_postgres_data_is_in_a_named_volume(services: dict[str, Any]) -> None:
    assert services["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


def test_citus_data_is_in_its_volume_for_any_postgres_version(services: dict[str, Any]) -> None:
    for name in ("citus", "citus-worker-1", "citus-worker-2"):
        assert services[name]["volumes"] == [f"{name}:/var/lib/postgresql"]
        folder = Path(services[name]["environment"]["PGDATA"])
        assert folder.parent == Path("/var/lib/postgresql")
        assert folder.name != "data", "in images before 18 this is a volume of its own"


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    settings = [value for service in services.values() for value in service.get("environment", {}).items()]
    secrets = [value for name, value in settings if re.search("SECRET|PASSWORD|URL", name)]
    assert len(secrets) == 24
    assert all(re.search(r"\$\{CAIRN_\w+:\?", value) for value in secrets)
    assert not re.search(r"\$\{\w*(SECRET|PASSWORD)\w*(:?-|\})", COMPOSE_TEXT)


def test_the_image_runs_as_an_ordinary_user() -> None:
    final = RECIPE[RECIPE.rindex("\nFROM ") :]
    assert re.findall(r"^USER (.+)", final, re.MULTILINE) == ["10001:10001"]
    assert final.index("useradd --system --gid 10001 --uid 10001") < final.index("USER 10001")
    assert final.index("USER 10001") < final.index("ENTRYPOINT")


def test_cairn_containers_are_read_only_and_without_capabilities(services: dict[str, Any]) -> None:
    for name in ("migrate", "cairn", "worker", "cairn-pooled", "citus-migrate", "cairn-citus"):
        service = services[name]
        assert (service["user"], service["read_only"], service["cap_drop"]) == ("10001:10001", True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_the_stop_grace_period_exceeds_the_drain_time(services: dict[str, Any]) -> None:
    grace = int(services["cairn"]["stop_grace_period"].removesuffix("s"))
    assert grace > sum(Settings.model_fields[name].default for name in ("drain_delay", "drain_timeout"))


def test_logs_are_bounded(services: dict[str, Any]) -> None:
    assert all(service["logging"]["options"]["max-size"] for service in services.values())


def test_the_build_context_contains_the_files_of_image_and_wheel() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    given = {line.removeprefix("!") for line in lines if line.startswith("!")}
    project = (ROOT / "pyproject.toml").read_text()
    packages = re.search(r"^packages = \[(.*)\]", project, re.MULTILINE)
    assert packages is not None
    assert set(re.findall(r'"(\w+)"', packages[1])) <= given
    licenses = re.search(r'^license-files = \["(.+)"\]', project, re.MULTILINE)
    assert licenses is not None
    assert {"pyproject.toml", "README.md", "constraints.txt", "hatch_build.py", licenses[1]} <= given


def test_continuous_integration_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
