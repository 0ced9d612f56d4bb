"""The committed contract is the one that is served, and all of its parts are described."""

import re
from pathlib import Path

from graphql import (
    GraphQLNamedType,
    get_named_type,
    is_enum_type,
    is_input_object_type,
    is_interface_type,
    is_introspection_type,
    is_object_type,
    is_scalar_type,
    is_specified_scalar_type,
)

from schema import v0
from schema.root import GRAPHQL, sdl

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "schema" / "schema.graphql"


def ours() -> list[GraphQLNamedType]:
    return [type_ for type_ in GRAPHQL.type_map.values() if not is_introspection_type(type_)]


def test_the_committed_contract_is_the_one_served() -> None:
    message = "the contract changed: look at the difference, then `make schema`"
    assert COMMITTED.read_text() == sdl(), message


def test_every_root_field_is_named_in_the_graphql_reference() -> None:
    words = set(re.findall(r"\w+", (ROOT / "docs" / "reference" / "graphql.md").read_text()))
    roots = (GRAPHQL.query_type, GRAPHQL.mutation_type, GRAPHQL.subscription_type)
    assert {name for root in roots if root for name in root.fields} - words == set()


def test_every_type_and_every_field_is_described() -> None:
    bare = [type_.name for type_ in ours() if not type_.description and type_.name not in ("Boolean", "String")]
    for type_ in ours():
        if is_object_type(type_) or is_interface_type(type_) or is_input_object_type(type_):
            bare += [f"{type_.name}.{name}" for name, field in type_.fields.items() if not field.description]
    assert bare == []


def test_every_list_has_a_size() -> None:
    """No field returns an unbounded list: a list has a limit, and a connection has `first`."""
    unbounded = []
    for type_ in ours():
        if not is_object_type(type_) or type_.name.endswith(("Connection", "Edge", "Payload")):
            continue
        for name, field in type_.fields.items():
            if str(field.type).lstrip("[").rstrip("]!").endswith("Connection"):
                sized = {"first", "after"} <= set(field.args)
            else:
                sized = not str(field.type).startswith("[") or "limit" in field.args or stored(type_.name, name)
            if not sized:
                unbounded.append(f"{type_.name}.{name}")
    assert unbounded == []


def stored(type_name: str, field_name: str) -> bool:
    """Return whether a field is an array stored in one row, bounded where it is written or found."""
    return (type_name, field_name) in {
        ("Query", "_entities"),  # as long as what was represented
        ("Webhook", "kinds"),  # nine
        ("Webhook", "types"),
        ("WikiApiKey", "networks"),  # 50 at most
        ("WikiApiKey", "scopes"),  # three
        ("WikiDecisionQuestion", "options"),  # 20 at most
        ("WikiGraph", "types"),  # eleven
        ("WikiDiary", "days"),  # 31 at most
        ("WikiDiaryDay", "counts"),
        ("WikiDiaryDay", "entries"),
        ("WikiPage", "tags"),
        ("WikiOwner", "writePolicy"),
        ("WikiProposal", "evidence"),
        ("WikiProposal", "conflicts"),
        ("WikiRevisionDiff", "hunks"),
        ("WikiDiffHunk", "lines"),
        ("WikiDiffLine", "parts"),
        ("WikiEditFailure", "passesTried"),
        ("WikiEditAmbiguity", "lines"),
        ("WikiRevision", "aliases"),
        ("WikiRevision", "tags"),
        ("WikiLintReport", "counts"),
        ("WikiOriginal", "flags"),
        ("WikiLink", "reasons"),
        ("UserError", "field"),
        ("WikiCursorReset", "userErrors"),
        ("WikiJournalImport", "userErrors"),
        ("MobileWikiSearchHit", "matchingMemoryIds"),
        ("WikiSnippet", "highlights"),
        ("WikiSearchAllResults", "hits"),
        ("WikiSearchAllResults", "spaces"),
        ("WikiContext", "items"),
        ("WikiContextItem", "superseded"),
        ("WikiSearchFacets", "types"),
        ("WikiSearchFacets", "tags"),
        ("WikiSearchExplanation", "parts"),
        ("WikiSearchExplanation", "terms"),
    }


def test_the_names_that_clients_use_are_in_the_contract() -> None:
    """Existing clients use these names: arguments may be added, but none may be removed or become required."""
    known = {
        "wikiPage": "tenantId! ownerId userId type! slug!",
        "wikiSearch": "tenantId! ownerId userId query! limit",
        "mobileWikiSearch": "tenantId ownerId userId agentId query! limit",
        "wikiSearchResults": "tenantId ownerId userId agentId query! filter first after explain!",
        "wikiSearchSources": "tenantId ownerId userId agentId query! filter first after",
        "relatedWikiPages": "pageId! limit",
        "diffWikiRevisions": "pageId! from! to!",
        "wikiNamedPages": "tenantId ownerId userId agentId name! type includeArchived! limit",
        "wikiSuggest": "tenantId ownerId userId agentId prefix! limit",
        "wikiBacklinks": "pageId!",
        "wikiConnectedPages": "pageId!",
        "wikiGraph": "tenantId! ownerId userId",
        "recentWikiPages": "tenantId ownerId userId agentId limit",
        "wikiCompileJobs": "tenantId! ownerId userId limit",
    }
    assert GRAPHQL.query_type is not None
    for name, arguments in known.items():
        field = GRAPHQL.query_type.fields[name]
        for argument in arguments.split():
            required = str(field.args[argument.rstrip("!")].type).endswith("!")
            assert required == argument.endswith("!"), f"{name}({argument})"
    page = GRAPHQL.type_map["WikiPage"]
    names = """id tenantId ownerId userId type slug title summary bodyMd status lastCompiledAt createdAt updatedAt
        sections aliases sourceMemoryCount sourceMemoryIds parent children promotedFromSection sectionChildren
        hubnessScore tags version"""
    assert is_object_type(page)
    assert set(names.split()) <= set(page.fields)
    assert all(value == value.upper() for type_ in ours() if is_enum_type(type_) for value in type_.values)


def test_custom_scalars_have_a_specification_url() -> None:
    ours_alone = [type_ for type_ in ours() if is_scalar_type(type_) and not is_specified_scalar_type(type_)]
    assert {type_.name for type_ in ours_alone} == {"DateTime", "JSON", "_Any"}
    for schema in (GRAPHQL, v0.GRAPHQL):
        scalars = [type_ for type_ in schema.type_map.values() if is_scalar_type(type_)]
        bare = [one.name for one in scalars if not is_specified_scalar_type(one) and not one.specified_by_url]
        assert bare == []


def test_every_payload_has_user_errors() -> None:
    """A mutation that returns the object itself has none: an invalid input is an error of its field."""
    assert GRAPHQL.mutation_type is not None
    bare = set()
    for name, field in GRAPHQL.mutation_type.fields.items():
        payload = get_named_type(field.type)
        assert is_object_type(payload)
        if "userErrors" not in payload.fields:
            bare.add(name)
        else:
            assert str(payload.fields["userErrors"].type) == "[UserError!]!"
    assert bare == {"compileWikiNow"}
