"""Collects the fields of selection sets, merged by response key as the GraphQL specification says (CollectFields)."""

from collections.abc import Iterable

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSkipDirective,
    InlineFragmentNode,
    SelectionNode,
    SelectionSetNode,
    get_directive_values,
    is_abstract_type,
)
from graphql.execution.values import VariableValues

from ..errors import NotCompilable

Fields = dict[str, list[FieldNode]]
"""The field nodes of a selection set by response key. Several nodes have one key where selections are merged."""


class Collector:
    """Collects fields under the variables of one request, which decide `@skip` and `@include`."""

    def __init__(
        self, schema: GraphQLSchema, fragments: dict[str, FragmentDefinitionNode], variables: VariableValues
    ) -> None:
        self.schema, self.fragments, self.variables = schema, fragments, variables

    def subfields(self, type_: GraphQLObjectType, nodes: list[FieldNode]) -> Fields:
        """Return the merged selection sets of the nodes of one field, whose value has this type."""
        return self.collect(type_, [node.selection_set for node in nodes if node.selection_set])

    def collect(self, type_: GraphQLObjectType, sets: Iterable[SelectionSetNode]) -> Fields:
        fields: Fields = {}
        visited: set[str] = set()
        for selections in sets:
            self.visit(type_, selections, fields, visited)
        return fields

    def field_names(self, nodes: Iterable[FieldNode]) -> frozenset[str]:
        """Return the names of all fields selected at any depth below the nodes, of any type."""
        found: set[str] = set()
        spread: set[str] = set()
        for node in nodes:
            self.gather(node, found, spread)
        return frozenset(found)

    def gather(self, node: SelectionNode | FragmentDefinitionNode, found: set[str], spread: set[str]) -> None:
        """Add the field names below a node to `found`. Each fragment is visited once; `spread` are the visited ones."""
        selections = getattr(node, "selection_set", None)
        for inner in filter(self.is_included, selections.selections if selections else ()):
            match inner:
                case FieldNode():
                    found.add(inner.name.value)
                    self.gather(inner, found, spread)
                case FragmentSpreadNode() if inner.name.value not in spread:
                    spread.add(inner.name.value)
                    self.gather(self.fragments[inner.name.value], found, spread)
                case InlineFragmentNode():
                    self.gather(inner, found, spread)

    def visit(self, type_: GraphQLObjectType, selections: SelectionSetNode, fields: Fields, visited: set[str]) -> None:
        """Add the fields of a selection set to `fields`. `visited` are the fragments that were visited already."""
        for node in filter(self.is_included, selections.selections):
            match node:
                case FieldNode():
                    fields.setdefault((node.alias or node.name).value, []).append(node)
                case FragmentSpreadNode() if node.name.value not in visited:
                    visited.add(node.name.value)
                    self.visit_fragment(type_, self.fragments[node.name.value], fields, visited)
                case InlineFragmentNode():
                    self.visit_fragment(type_, node, fields, visited)

    def visit_fragment(
        self,
        type_: GraphQLObjectType,
        fragment: FragmentDefinitionNode | InlineFragmentNode,
        fields: Fields,
        visited: set[str],
    ) -> None:
        condition = fragment.type_condition
        if condition is None or self.applies(condition.name.value, type_):
            self.visit(type_, fragment.selection_set, fields, visited)

    def applies(self, name: str, type_: GraphQLObjectType) -> bool:
        """Return whether a fragment with the named type condition applies to objects of the type."""
        condition = self.schema.type_map[name]
        return condition is type_ or (is_abstract_type(condition) and self.schema.is_sub_type(condition, type_))

    def is_included(self, node: SelectionNode) -> bool:
        """Evaluate `@skip` and `@include`. Raises NotCompilable for any other directive."""
        if not node.directives:
            return True
        if any(directive.name.value not in ("skip", "include") for directive in node.directives):
            raise NotCompilable("a directive of unknown meaning")
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and not (include and not include["if"])
