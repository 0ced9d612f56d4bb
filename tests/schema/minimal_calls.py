"""Builds minimal valid calls of any field of the contract, so that a new field is walked without further work."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from uuid import UUID

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_enum_type,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
)

from schema.root import GRAPHQL
from tests.schema.reference.query import KINDS
from tests.schema.world import Row, World, owner_id, tenant_id

TEXTS = {
    "name": "A new name", "title": "A new title", "ref": "a-new-ref", "query": "latte", "prefix": "latte",
    "sectionSlug": "overview", "owner": "space", "grantee": "new", "owners": "alice", "replacement": "others",
    "check": "orphans", "toOwner": "space",
}  # fmt: skip
TABLES = {
    "sourceId": "sources", "mentionId": "mentions", "claimId": "superseded_claims",
    "contradictionId": "contradictions", "proposalId": "proposals", "proposalIds": "proposals",
    "shareLinkId": "share_links", "questionId": "decision_questions",
    **dict.fromkeys(("ownerId", "userId", "agentId"), "owners"),
}  # fmt: skip
UNKNOWN = str(UUID(int=7))


class Wiki:
    """One wiki of the world, from which arguments are taken."""

    def __init__(self, world: World, tenant: int, owner: str) -> None:
        self.tables = {table: world.rows(table, tenant, owner) for table in KINDS if table != "owners"}
        self.tables["proposals"] = world.rows("proposals", tenant, owner)
        self.tables["decision_questions"] = world.rows("decision_questions", tenant, owner)
        self.tables["share_links"] = world.rows("share_links", tenant, owner)
        self.tables["owners"] = [row for row in world.tables["owners"] if row["id"] == owner_id(tenant, owner)]
        self.tenant = str(tenant_id(tenant))
        whole = {row["page_id"] for row in self.tables["sections"] if row["section_slug"] == TEXTS["sectionSlug"]}
        self.pages = [row for row in self.tables["pages"] if row["id"] in whole and row["status"] == "active"]

    def ids(self, argument: str, number: int = 0) -> list[str]:
        """Return ids that an argument of this name may have; of pages, the page with that number."""
        if argument == "tenantId":
            return [self.tenant]
        if argument in ("id", "ids"):
            return [str(rows[0]["id"]) for table, rows in self.tables.items() if table in KINDS]
        if argument in TABLES:
            return [str(self.tables[TABLES[argument]][0]["id"])]
        return [str(self.pages[number if argument in ("pageId", "fromPageId") else number + 1]["id"])]

    def value(self, name: str, type_: Any, number: int = 0) -> Any:
        nullable: Any = get_nullable_type(type_)
        if is_list_type(nullable):
            return [self.value(name, nullable.of_type, number)]
        if is_input_object_type(nullable):
            return self.input(nullable, number)
        if is_enum_type(nullable):
            row: Row = self.pages[number]
            return row["type"].upper() if name == "type" else next(iter(nullable.values))
        if nullable.name == "ID":
            return self.ids(name, number)[0]
        if nullable.name == "_Any":
            return {"__typename": "WikiPage", "id": str(self.pages[number]["id"])}
        texts = {**TEXTS, "slug": self.pages[number]["slug"]}
        return {"Int": 1, "Boolean": False, "String": texts.get(name, "words")}[nullable.name]

    def input(self, type_: GraphQLInputObjectType, number: int = 0) -> Row:
        """Return the required fields, and the page if the input has several ways to name it."""
        fields = type_.fields.items()
        wanted = [name for name, field in fields if is_required_input_field(field) or name in ("pageId", "fromPageId")]
        if type_.name == "ProposeWikiChangeInput":
            wanted.append("archive")
        if type_.name == "CreateWikiStubInput" and self.pages[number]["type"] == "concept":
            wanted += ["why", "howToApply"]
        return {name: self.value(name, type_.fields[name].type, number) for name in wanted}

    def arguments(self, field: GraphQLField) -> Row:
        found = {name: self.value(name, one.type) for name, one in field.args.items() if is_required_argument(one)}
        source = self.tables["sources"][0]
        named = {"name": self.pages[0]["title"]} if "name" in found else {}
        return found | named | ({"kind": source["kind"].upper(), "ref": source["ref"]} if "ref" in found else {})


def minimal_call(operation: str, name: str, field: GraphQLField, given: Iterable[str], depth: int = 1) -> str:
    """Build a document that takes these arguments of the field as variables, and selects to that depth."""
    declared = ", ".join(f"${key}: {field.args[key].type}" for key in given)
    passed = ", ".join(f"{key}: ${key}" for key in given)
    head, arguments = (f"{operation}({declared})", f"({passed})") if declared else (operation, "")
    return f"{head} {{ {name}{arguments} {selection(get_named_type(field.type), depth)} }}"


@cache
def selection(type_: GraphQLNamedType, depth: int) -> str:
    """Select every field that needs no argument, some levels deep."""
    if is_leaf_type(type_):
        return ""
    if is_abstract_type(type_):
        parts = [f"... on {one.name} {{ {one.name}: __typename id }}" for one in GRAPHQL.get_possible_types(type_)]
    else:
        parts = list(parts_of(type_, depth))
    return "{ __typename " + " ".join(parts) + " }"


def parts_of(type_: Any, depth: int) -> Iterator[str]:
    for name, field in type_.fields.items():
        named = get_named_type(field.type)
        is_part = named.name.endswith(("Connection", "Edge", "PageInfo"))
        if any(map(is_required_argument, field.args.values())) or (depth == 0 and not is_leaf_type(named)):
            continue
        yield f"{name} {selection(named, depth - (0 if is_part else 1))}"
