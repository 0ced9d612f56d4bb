"""The faults of `make mutants` can be planted, because each replaced text occurs once in its file."""

import pytest

from tests.schema.faults import FAULTS, Fault
from tests.schema.planted_faults import ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.file}: {fault.before}")
def test_a_fault_has_exactly_one_place_in_its_file(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.before) == 1
