"""Sets how many examples a test tries: few in each run, more in `make test-nightly`."""

from hypothesis import settings


def is_nightly() -> bool:
    return settings.get_current_profile_name() == "nightly"


def examples(usually: int, nightly: int) -> int:
    return nightly if is_nightly() else usually
