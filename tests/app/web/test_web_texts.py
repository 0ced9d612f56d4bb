"""The catalogue of the reader's texts has every text that a template looks up."""

from enum import Enum

import pytest

from app.web.pages.keys import OVERLAPS
from app.web.rendering import texts
from content.templates import TEMPLATES
from resolvers.proposals.proposals import PROPOSABLE
from schema.enums import (
    WikiConfidence,
    WikiContradictionResolution,
    WikiJobStatus,
    WikiProposalStatus,
    WikiRole,
    WikiSignificance,
    WikiSourceKind,
)

ENUMS: dict[str, type[Enum]] = {
    "kinds": WikiSourceKind,
    "states": WikiJobStatus,
    "confidence": WikiConfidence,
    "resolutions": WikiContradictionResolution,
    "proposal_states": WikiProposalStatus,
    "significance": WikiSignificance,
    "roles": WikiRole,
}


@pytest.mark.parametrize("name", ENUMS)
def test_every_value_of_an_enum_has_a_text(name: str) -> None:
    assert set(texts()[name]) == set(ENUMS[name].__members__)


def test_every_role_of_a_program_and_every_overlap_has_a_text() -> None:
    assert set(texts()["programs"]["roles"]) == set(WikiRole.__members__)
    assert set(texts()["api_keys"]["overlaps"]) == OVERLAPS.keys()


def test_every_type_of_page_has_a_text() -> None:
    assert set(texts()["types"]) == set(TEMPLATES)


def test_every_write_that_can_be_proposed_has_a_text() -> None:
    assert set(texts()["operations"]) == PROPOSABLE.keys()
