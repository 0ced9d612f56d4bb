"""The compose file and the image's recipe, as far as they can be read without an engine."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from app.settings import Settings

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text()


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return dict(YAML(typ="safe").load(COMPOSE_TEXT)["services"])


def test_what_keeps_running_says_whether_it_is_healthy(services: dict[str, Any]) -> None:
    lasting = {name: service for name, service in services.items() if "restart" in service}
    assert set(lasting) == {"postgres", "cairn", "worker"}
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


def test_the_data_outlives_the_container(services: dict[str, Any]) -> None:
    assert services["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    told = [value for service in services.values() for value in service["environment"].items()]
    secrets = [value for name, value in told if re.search("SECRET|PASSWORD|URL", name)]
    assert len(secrets) == 7
    assert all(re.search(r"\$\{CAIRN_\w+:\?", value) for value in secrets)
    assert not re.search(r"\$\{\w*(SECRET|PASSWORD)\w*(:?-|\})", COMPOSE_TEXT)


def test_the_image_runs_as_an_ordinary_user() -> None:
    final = RECIPE[RECIPE.rindex("\nFROM ") :]
    assert re.findall(r"^USER (.+)", final, re.MULTILINE) == ["10001:10001"]
    assert final.index("useradd --system --gid 10001 --uid 10001") < final.index("USER 10001")
    assert final.index("USER 10001") < final.index("ENTRYPOINT")


def test_cairn_has_no_rights_that_it_does_not_need(services: dict[str, Any]) -> None:
    for name in ("migrate", "cairn", "worker"):
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
    assert {"pyproject.toml", "README.md", "constraints.txt", "hatch_build.py"} <= given


def test_continuous_integration_runs_what_a_newcomer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
