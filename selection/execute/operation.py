"""Parses and validates documents, and coerces the variables of their operations."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from graphql import (
    SKIP,
    ArgumentNode,
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLInputType,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_nullable_type,
    get_operation_ast,
    is_enum_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    parse,
    validate,
    visit,
)
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_variable_values
from graphql.pyutils import Undefined

from content.limits import quoted
from lib.lru import CacheStats

from ..compile.introspection import ROOTS_AND_TYPENAME, fields, introspection_rows
from ..compile.parameters import ABSENT, is_plain, shape
from ..declare.contract import mapping_of
from ..limits import MUTATION_FIELD, Limits, exceeded_limits, measure_variables
from .plan_cache import PlanCache


class Invalid(Exception):
    """Raised for a document or variables that cannot be executed. It holds the errors of the response."""

    def __init__(self, errors: list[GraphQLError], code: str) -> None:
        for error in errors:
            error.extensions = {"code": code, **(error.extensions or {})}
            if isinstance(error.original_error, ValueError):  # a number with more digits than Python converts
                error.original_error = None
        self.errors, self.code = errors, code


Fragments = dict[str, FragmentDefinitionNode]


class PlainVariable(NamedTuple):
    """A variable that is a scalar, an enum or a list of them, and the function that coerces its values."""

    signature: GraphQLVariableSignature
    is_required: bool
    read: Callable[[Any], Any]


class Operation:
    """An operation of a document, with its plans by the shape of its variables."""

    def __init__(
        self,
        schema: GraphQLSchema,
        definition: OperationDefinitionNode,
        fragments: Fragments,
        plans: CacheStats | None = None,
    ) -> None:
        self.definition, self.fragments = definition, fragments
        self.is_mutation = definition.operation is OperationType.MUTATION
        self.is_subscription = definition.operation is OperationType.SUBSCRIPTION
        self.plans = PlanCache(plans)
        self.shape_variables: list[tuple[str, GraphQLInputType]] = []
        """The variables on whose shape a plan depends, with their types."""
        self.plain: dict[str, PlainVariable] = {}
        for node in definition.variable_definitions or ():
            signature: Any = get_variable_signature(schema, node)
            if not (is_non_null_type(signature.type) and is_plain(signature.type)):
                self.shape_variables.append((signature.name, signature.type))
            if (read := variable_reader(signature.type)) is not None:
                self.plain[signature.name] = PlainVariable(signature, is_non_null_type(signature.type), read)
        self.is_plain = len(self.plain) == len(definition.variable_definitions or ())
        if self.is_mutation:
            shaping = ShapingVariables(schema, definition, fragments).names
            self.shape_variables = [(name, type_) for name, type_ in self.shape_variables if name in shaping]

    @property
    def text(self) -> str:
        """Return the text of the document that contains the operation."""
        return self.definition.loc.source.body if self.definition.loc else ""

    def shape(self, variables: VariableValues) -> tuple[Any, ...]:
        """Return the shape of the variables: requests with the same shape share a plan."""
        if not self.shape_variables:
            return ()
        coerced = variables.coerced
        return tuple(shape(type_, coerced[name]) if name in coerced else ABSENT for name, type_ in self.shape_variables)


class ShapingVariables(Visitor):
    """Collects the variables of a mutation on whose shape the plans of its payloads depend.

    The arguments of root fields that are Python methods are passed to the methods and do not change a plan. If they
    were part of the shape, an input of a dozen optional fields would have a plan for each combination of fields.
    """

    def __init__(self, schema: GraphQLSchema, definition: OperationDefinitionNode, fragments: Fragments) -> None:
        super().__init__()
        self.names = set[str]()
        known: Any = schema.mutation_type and schema.mutation_type.fields
        self.passed_arguments = {
            id(argument)
            for node in fields(definition.selection_set, fragments)
            if (field := known.get(node.name.value)) and mapping_of(field) is None
            for argument in node.arguments or ()
        }
        for node in (definition, *fragments.values()):
            visit(node, self)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> Any:
        return SKIP

    def enter_argument(self, node: ArgumentNode, *_: Any) -> Any:
        return SKIP if id(node) in self.passed_arguments else None

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.names.add(node.name.value)


def variable_reader(type_: GraphQLInputType) -> Callable[[Any], Any] | None:
    """Return the function that coerces a value that is not null, or None if only graphql-core can coerce this type.

    Clients do not see the function's errors: graphql-core then coerces the values again and reports them.
    """
    nullable: Any = get_nullable_type(type_)
    if is_leaf_type(nullable):
        return leaf_reader(nullable)
    if is_list_type(nullable) and is_leaf_type(leaf := get_nullable_type(nullable.of_type)):
        return partial(read_list, leaf_reader(leaf), is_non_null_type(nullable.of_type))
    return None


def leaf_reader(leaf: Any) -> Callable[[Any], Any]:
    """Return the function that coerces a scalar or an enum value. Enum values are coerced once and then looked up."""
    if is_enum_type(leaf):
        return {name: leaf.coerce_input_value(name) for name in leaf.values}.__getitem__
    read: Callable[[Any], Any] = leaf.coerce_input_value
    return read


def read_list(read: Callable[[Any], Any], is_required: bool, value: Any) -> list[Any]:
    """Coerce the items of a list, which must not be null if `is_required`.

    Raises ValueError for any other value. graphql-core coerces a single value, which GraphQL allows for a list.
    """
    if type(value) is not list or (is_required and None in value):
        raise ValueError
    items = [None if item is None else read(item) for item in value]
    if any(item is Undefined for item in items):  # by identity, because Undefined equals None
        raise ValueError
    return items


class Document:
    """A parsed and valid document, and the operation of it that is executed. Raises Invalid."""

    def __init__(
        self, schema: GraphQLSchema, text: str, name: str | None, limits: Limits, plans: CacheStats | None = None
    ) -> None:
        self.ast = parse_document(schema, text, limits)
        definition = get_operation_ast(self.ast, name)
        if definition is None:
            raise Invalid([GraphQLError(resolution_message(self.ast, name))], "OPERATION_RESOLUTION_FAILURE")
        fragments = {node.name.value: node for node in self.ast.definitions if isinstance(node, FragmentDefinitionNode)}
        self.operation = Operation(schema, definition, fragments, plans)
        self.introspection_cost = introspection_rows(schema, definition.selection_set, fragments)
        """The cost of the operation's introspection in rows; 0 if it has none."""
        self.only_introspects = all(
            node.name.value in ROOTS_AND_TYPENAME for node in fields(definition.selection_set, fragments)
        )
        self.base_cost = self.introspection_cost + count_mutation_fields(definition, fragments) * MUTATION_FIELD


def count_mutation_fields(definition: OperationDefinitionNode, fragments: Fragments) -> int:
    """Return how many fields of Mutation the operation has."""
    if definition.operation is not OperationType.MUTATION:
        return 0
    return sum(1 for _ in fields(definition.selection_set, fragments))


def too_long(limits: Limits) -> Invalid:
    return Invalid([GraphQLError(f"This document is longer than {limits.characters} characters.")], "LIMIT_EXCEEDED")


def resolution_message(document: DocumentNode, name: str | None) -> str:
    if name is not None:
        return f"There is no operation named {quoted(name)} in this document."
    if any(isinstance(node, OperationDefinitionNode) for node in document.definitions):
        return "Several operations in this document: operationName must say which to execute."
    return "There is no operation in this document."


def parse_document(schema: GraphQLSchema, text: str, limits: Limits) -> DocumentNode:
    """Parse a document, check its limits and validate it. Raises Invalid."""
    try:
        document = parse(text, max_tokens=limits.tokens)
    except GraphQLError as error:
        code = "LIMIT_EXCEEDED" if "more than" in error.message else "GRAPHQL_PARSE_FAILED"
        raise Invalid([error], code) from error
    except RecursionError as error:
        raise Invalid([GraphQLError("This document is nested too deeply.")], "LIMIT_EXCEEDED") from error
    if errors := exceeded_limits(document, limits):
        raise Invalid(errors, "LIMIT_EXCEEDED")
    if errors := validate(schema, document, max_errors=limits.errors, hide_suggestions=not limits.suggestions):
        raise Invalid(errors, "GRAPHQL_VALIDATION_FAILED")
    return document


def is_large(given: dict[str, Any], limits: Limits) -> bool:
    """Return whether coercing these variables would take long. Raises Invalid if they exceed the limits."""
    try:
        return bool(given) and measure_variables(given, limits).is_large
    except GraphQLError as error:
        raise Invalid([error], "LIMIT_EXCEEDED") from error


def coerce_variables(
    schema: GraphQLSchema, operation: Operation, given: dict[str, Any], limits: Limits
) -> VariableValues:
    """Return the coerced variables, or raise Invalid with their errors."""
    return coerce_plain(operation, given) or coerce_any(schema, operation, given, limits)


def coerce_plain(operation: Operation, given: dict[str, Any]) -> VariableValues | None:
    """Return the coerced variables if all are plain, given and valid, else None.

    This is the case in most requests, and faster than graphql-core, which reads the declarations in each request.
    """
    if not operation.is_plain:
        return None
    sources, values = {}, {}
    try:
        for name, (signature, is_required, read) in operation.plain.items():
            value = given[name]
            if value is None and is_required:
                return None
            sources[name] = VariableValueSource(signature, value)
            values[name] = coerced = None if value is None else read(value)
            if coerced is Undefined:
                return None
    except Exception:  # graphql-core coerces the variables again, and reports their errors
        return None
    return VariableValues(sources, values)


def coerce_any(schema: GraphQLSchema, operation: Operation, given: dict[str, Any], limits: Limits) -> VariableValues:
    """Coerce the variables with graphql-core. Raises Invalid."""
    values = get_variable_values(
        schema,
        operation.definition.variable_definitions or (),
        given,
        max_errors=limits.errors,
        hide_suggestions=not limits.suggestions,
    )
    if isinstance(values, list):
        raise Invalid(values, "BAD_USER_INPUT")
    return values
