"""Changes of the contract are classified as breaking, dangerous or safe, and the current one breaks no client."""

import pytest

from schema.root import sdl
from tests.schema.compatibility import RELEASED, compare

BEFORE = """
    type Query { page(id: ID!, owner: ID): Page, old(a: Int): Int @deprecated(reason: "Use page.") }
    type Page { title: String!, kind: Kind! }
    enum Kind { TOPIC ENTITY @deprecated(reason: "Use TOPIC.") }
    input Draft { title: String! }
"""


def test_the_contract_breaks_no_client_of_the_released_one() -> None:
    assert compare(RELEASED.read_text(), sdl()).breaking == []


@pytest.mark.parametrize(
    ("part", "instead", "description"),
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
def test_breaking_changes_are_named(part: str, instead: str, description: str) -> None:
    (found,) = compare(BEFORE, BEFORE.replace(part, instead)).breaking
    assert description in found


def test_deprecated_fields_may_be_removed_but_not_changed() -> None:
    gone = BEFORE.replace(', old(a: Int): Int @deprecated(reason: "Use page.")', "").replace(
        ' ENTITY @deprecated(reason: "Use TOPIC.")', ""
    )
    assert compare(BEFORE, gone).breaking == []
    assert compare(BEFORE, BEFORE.replace("old(a: Int): Int", "old(a: Int): String")).breaking


def test_new_fields_are_safe_and_new_enum_members_dangerous() -> None:
    grown = BEFORE.replace("title: String!, kind", "title: String!, slug: String!, kind")
    assert compare(BEFORE, grown) == ([], [], 1)
    more = BEFORE.replace("TOPIC ENTITY", "TOPIC THEME ENTITY")
    assert (compare(BEFORE, more).breaking, len(compare(BEFORE, more).dangerous)) == ([], 1)
