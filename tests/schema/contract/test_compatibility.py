"""The contract grows and never breaks: what is released stays, until it was deprecated for a release."""

import pytest

from schema.root import sdl
from tests.schema.compatibility import RELEASED, compare

BEFORE = """
    type Query { page(id: ID!, owner: ID): Page, old(a: Int): Int @deprecated(reason: "Use page.") }
    type Page { title: String!, kind: Kind! }
    enum Kind { TOPIC ENTITY @deprecated(reason: "Use TOPIC.") }
    input Draft { title: String! }
"""


def test_clients_of_the_released_contract_are_served() -> None:
    assert compare(RELEASED.read_text(), sdl()).breaking == []


@pytest.mark.parametrize(
    ("part", "instead", "told"),
    [
        ("title: String!, ", "", "Page.title was removed"),
        ("kind: Kind!", "kind: Kind", "Page.kind changed type from Kind! to Kind"),
        ("owner: ID)", "owner: ID!)", "Query.page(owner:) has changed type from ID to ID!"),
        ("owner: ID)", "owner: ID, tenant: ID!)", "A required argument Query.page(tenant:) was added"),
        ("old(a: Int): Int", "old: Int", "Argument Query.old(a:) was removed"),
        ("TOPIC ENTITY", "ENTITY", "Enum value Kind.TOPIC was removed"),
        ("{ title: String! }", "{ title: String!, body: String! }", "A required field Draft.body was added"),
    ],
)
def test_what_would_break_a_client_is_named(part: str, instead: str, told: str) -> None:
    (found,) = compare(BEFORE, BEFORE.replace(part, instead)).breaking
    assert told in found


def test_what_was_deprecated_may_go_and_may_not_change() -> None:
    gone = BEFORE.replace(', old(a: Int): Int @deprecated(reason: "Use page.")', "").replace(
        ' ENTITY @deprecated(reason: "Use TOPIC.")', ""
    )
    assert compare(BEFORE, gone).breaking == []
    assert compare(BEFORE, BEFORE.replace("old(a: Int): Int", "old(a: Int): String")).breaking


def test_growth_is_safe_and_what_old_clients_may_stumble_over_is_listed() -> None:
    grown = BEFORE.replace("title: String!, kind", "title: String!, slug: String!, kind")
    assert compare(BEFORE, grown) == ([], [], 1)
    more = BEFORE.replace("TOPIC ENTITY", "TOPIC THEME ENTITY")
    assert (compare(BEFORE, more).breaking, len(compare(BEFORE, more).dangerous)) == ([], 1)
