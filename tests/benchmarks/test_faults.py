"""What the fault table says of answers: who was refused, and from when on nobody was again."""

from benchmarks.faults.load import LOST, Answered, Load


def load_of(*answers: Answered) -> Load:
    load = Load("", "", writers=1, readers=1)
    load.answers = list(answers)
    return load


def test_healing_counts_until_the_last_client_is_answered_for_good() -> None:
    load = load_of(
        Answered(0, 0.0, 1.0, LOST),  # before the fault
        Answered(0, 10.0, 11.0, LOST),
        Answered(0, 11.0, 12.0, "200"),
        Answered(0, 13.0, 14.0, "503"),
        Answered(0, 14.0, 15.5, "200"),
        Answered(1, 10.0, 16.0, "200"),
    )
    assert load.refused(10.0) == {LOST: 1, "503": 1}
    assert load.waits(10.0) == [1.0, 1.5, 6.0]
    assert load.healed(10.0, 12.5) == 3.0


def test_nobody_who_was_refused_needs_no_healing_and_who_is_refused_in_the_end_has_not_healed() -> None:
    assert load_of(Answered(0, 10.0, 16.0, "200")).healed(10.0, 12.0) == 0.0
    assert load_of(Answered(0, 10.0, 16.0, "503")).healed(10.0, 12.0) == float("inf")
