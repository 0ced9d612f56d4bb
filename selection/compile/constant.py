"""Plans of operations that select introspection only: without variables, the response is computed once and cached."""

from typing import Any

import orjson
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    execute,
)

from ..errors import NotCompilable
from ..execute.plan import Context
from .introspection import introspection_rows

SCHEMA_FIELDS = {"__schema", "__type", "__typename"}
Fragments = dict[str, FragmentDefinitionNode]


class ConstantPlan:
    """A plan whose data is constant: it runs no statement."""

    def __init__(self, schema: GraphQLSchema, definition: OperationDefinitionNode, fragments: Fragments) -> None:
        document = DocumentNode(definitions=(definition, *fragments.values()))
        result: Any = execute(schema, document)
        if not isinstance(result, ExecutionResult) or result.errors:
            raise NotCompilable("what is asked of the schema has no plain answer")
        self.data = orjson.dumps(result.data)
        self.cost = introspection_rows(schema, definition.selection_set, fragments)

    async def run(self, context: Context, request: object) -> bytes:
        """Return the data, and spend its cost."""
        await context.spend(self.cost)
        return self.data


def is_constant(definition: OperationDefinitionNode, fragments: Fragments) -> bool:
    """Return whether an operation is a query of introspection only, without variables."""
    is_query = definition.operation is OperationType.QUERY
    return is_query and not definition.variable_definitions and selects_only_schema(definition.selection_set, fragments)


def selects_only_schema(selections: SelectionSetNode, fragments: Fragments) -> bool:
    """Return whether each root field is one of SCHEMA_FIELDS, also those inside of fragments."""
    for node in selections.selections:
        match node:
            case FieldNode() if node.name.value in SCHEMA_FIELDS:
                continue
            case InlineFragmentNode() if selects_only_schema(node.selection_set, fragments):
                continue
            case FragmentSpreadNode() if selects_only_schema(fragments[node.name.value].selection_set, fragments):
                continue
            case _:
                return False
    return True
