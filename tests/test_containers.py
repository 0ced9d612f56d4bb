"""The compose file and the image's recipe, as far as they can be read without an engine."""

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


def test_what_keeps_running_says_whether_it_is_healthy(services: dict[str, Any]) -> None:
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


def test_a_service_needs_nothing_of_another_profile(services: dict[str, Any]) -> None:
    """So `docker compose up SERVICE` starts all that it needs, and nothing else."""
    for name, service in services.items():
        own = {*service.get("profiles", ())}
        for other in service.get("depends_on", {}):
            assert {*services[other].get("profiles", ())} <= own, f"{name} needs {other}"
    profiles = {profile for service in services.values() for profile in service.get("profiles", ())}
    assert profiles == {"replica", "citus"}


def test_every_command_and_setting_is_one_of_ours(services: dict[str, Any]) -> None:
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


def test_what_is_mounted_is_declared() -> None:
    composed = YAML(typ="safe").load(COMPOSE_TEXT)
    services = composed["services"].values()
    volumes = {one.partition(":")[0] for service in services for one in service.get("volumes", ())}
    configs = {one["source"] for service in services for one in service.get("configs", ())}
    assert volumes == {*composed["volumes"]}
    assert configs == {*composed["configs"]}
    places = [tuple(service["volumes"]) for service in services if "volumes" in service]
    assert len(places) == len(set(places)), "no two servers share their data"


def test_the_nodes_of_citus_are_those_that_the_coordinator_is_told(services: dict[str, Any]) -> None:
    told = re.findall(r"citus_\w+\('([\w-]+)', 5432\)", " ".join(services["citus-nodes"]["command"]))
    assert told == ["citus", "citus-worker-1", "citus-worker-2"]
    assert {*services["citus-nodes"]["depends_on"]} == {*told}
    assert services["citus-migrate"]["depends_on"] == {"citus-nodes": {"condition": "service_completed_successfully"}}


def test_hosts_in_addresses_are_services(services: dict[str, Any]) -> None:
    hosts = re.findall(r"@([\w-]+):\d+/cairn", COMPOSE_TEXT) + re.findall(r"host[= ]([\w-]+)[ \n]", COMPOSE_TEXT)
    assert {"postgres", "pgbouncer", "replica", "citus"} <= {*hosts} <= {*services, "replication"}


def test_the_data_outlives_the_container(services: dict[str, Any]) -> None:
    assert services["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


def test_the_data_of_citus_lie_in_their_volume_whichever_postgres_the_image_has(services: dict[str, Any]) -> None:
    for name in ("citus", "citus-worker-1", "citus-worker-2"):
        assert services[name]["volumes"] == [f"{name}:/var/lib/postgresql"]
        folder = Path(services[name]["environment"]["PGDATA"])
        assert folder.parent == Path("/var/lib/postgresql")
        assert folder.name != "data", "in images before 18 this is a volume of its own"


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    told = [value for service in services.values() for value in service.get("environment", {}).items()]
    secrets = [value for name, value in told if re.search("SECRET|PASSWORD|URL", name)]
    assert len(secrets) == 24
    assert all(re.search(r"\$\{CAIRN_\w+:\?", value) for value in secrets)
    assert not re.search(r"\$\{\w*(SECRET|PASSWORD)\w*(:?-|\})", COMPOSE_TEXT)


def test_the_image_runs_as_an_ordinary_user() -> None:
    final = RECIPE[RECIPE.rindex("\nFROM ") :]
    assert re.findall(r"^USER (.+)", final, re.MULTILINE) == ["10001:10001"]
    assert final.index("useradd --system --gid 10001 --uid 10001") < final.index("USER 10001")
    assert final.index("USER 10001") < final.index("ENTRYPOINT")


def test_cairn_has_no_rights_that_it_does_not_need(services: dict[str, Any]) -> None:
    for name in ("migrate", "cairn", "worker", "cairn-pooled", "citus-migrate", "cairn-citus"):
        given = services[name]
        assert (given["user"], given["read_only"], given["cap_drop"]) == ("10001:10001", True, ["ALL"])
        assert given["security_opt"] == ["no-new-privileges:true"]


def test_requests_are_finished_before_a_container_is_killed(services: dict[str, Any]) -> None:
    grace = int(services["cairn"]["stop_grace_period"].removesuffix("s"))
    assert grace > sum(Settings.model_fields[name].default for name in ("drain_delay", "drain_timeout"))


def test_logs_are_bounded(services: dict[str, Any]) -> None:
    assert all(service["logging"]["options"]["max-size"] for service in services.values())


def test_the_build_is_given_every_file_that_the_recipe_and_the_wheel_read() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    given = {line.removeprefix("!") for line in lines if line.startswith("!")}
    project = (ROOT / "pyproject.toml").read_text()
    packages = re.search(r"^packages = \[(.*)\]", project, re.MULTILINE)
    assert packages is not None
    assert set(re.findall(r'"(\w+)"', packages[1])) <= given
    licenses = re.search(r'^license-files = \["(.+)"\]', project, re.MULTILINE)
    assert licenses is not None
    assert {"pyproject.toml", "README.md", "constraints.txt", "hatch_build.py", licenses[1]} <= given


def test_continuous_integration_runs_what_a_newcomer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
