"""Generates random mutations with variables: mostly valid ones, sometimes foreign, wrong or nonsense."""

from typing import Any

from graphql import (
    GraphQLField,
    get_named_type,
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_non_null_type,
    is_required_argument,
    is_required_input_field,
)

from tests.schema.documents import Documents, literal
from tests.schema.wikis import SECTION_SLUGS

WRONG: list[Any] = [None, 5, "nonsense", [], {}, {"more": 1}, True]
TEXTS = ["", "Latte", "latte", "Mocha [[latte]]", "## Notes\n\nlatte", "x" * 600, "nul\x00", "日本", "text", "manual"]
OF_NAMES = {
    "sectionSlug": SECTION_SLUGS,
    "oldText": ["a", "e", "latte", "the", "\n", ""],
    "language": ["german", "simple", "klingon"],
    "scoreBoost": [0.9, 0, 1.5, 11],
    "fact": ["a", "latte", "the", "nothing that it says", ""],
    "replacement": ["mocha", "", "## A", "latte"],
    "claim": ["a", "latte", "the", "nothing that it says", ""],
    "check": ["orphans", "stale", "broken_links", "nonsense"],
    "reason": ["manual", "text", "planner", "because"],
}
TABLES = {"sourceId": "sources", "mentionId": "mentions", "claimId": "superseded_claims",
          "contradictionId": "contradictions", "proposalId": "proposals", "proposalIds": "proposals",
          "shareLinkId": "share_links", "questionId": "decision_questions"}  # fmt: skip
HIGHEST = 2**31 - 1


class MutationDocuments(Documents):
    """Generates documents of one to three root fields, each with its own alias."""

    def make(self) -> tuple[str, dict[str, Any], str | None]:
        root = self.schema.mutation_type
        assert root is not None
        names = self.rng.choices(list(root.fields), k=self.rng.choice([1, 1, 2, 3]))
        parts = [self.field(root, name, self.rng.choice([2, 3]), apart=True) for name in names]
        if self.chance(0.2):
            parts.append(f"{self.name('t')}: __typename")
        if self.chance(0.2):
            parts[-1:] = [self.fragment(root, parts[-1:])]
        variables = f"({', '.join(self.declared)})" if self.declared else ""
        text = f"mutation M{variables} {{ {' '.join(parts)} }}\n" + "\n".join(self.fragments)
        return text, self.given, None

    def arguments(self, name: str, field: GraphQLField) -> str:
        assert self.schema.mutation_type is not None
        if self.schema.mutation_type.fields.get(name) is not field:
            return super().arguments(name, field)
        chosen = {key: one for key, one in field.args.items() if is_required_argument(one) or self.chance(0.4)}
        texts = [f"{key}: {self.pass_value(key, one.type)}" for key, one in chosen.items()]
        return f"({', '.join(texts)})" if texts else ""

    def pass_value(self, name: str, type_: Any) -> str:
        """Pass the value as a variable, or write it with variables in it."""
        value = self.input(name, type_)
        if self.chance(0.6):
            default = "" if not self.chance(0.1) or value is None else f" = {literal(type_, value)}"
            may_lack = bool(default) or not is_non_null_type(type_)
            return self.declare(f"{type_}{default}", value, lambda: self.input(name, type_), optional=may_lack)
        fields = getattr(get_nullable_type(type_), "fields", {})
        if isinstance(value, dict) and (known := [key for key in value if key in fields]):
            key = self.rng.choice(known)
            inner = fields[key].type
            may_lack = not is_required_input_field(fields[key])
            text = self.declare(str(inner), value[key], lambda: self.input(key, inner), optional=may_lack)
            value = value | {key: text}
        return literal(type_, value)

    def input(self, name: str, type_: Any) -> Any:
        if self.chance(0.02):
            return self.rng.choice(WRONG)
        if not is_non_null_type(type_) and self.chance(0.1):
            return None
        type_ = get_nullable_type(type_)
        if is_list_type(type_):
            return [self.input(name, type_.of_type) for _ in range(self.rng.randint(0, 2))]
        if is_input_object_type(type_):
            return {
                key: self.input(key, one.type)
                for key, one in type_.fields.items()
                if is_required_input_field(one) or self.chance(0.3)
            }
        if is_enum_type(type_):
            return self.rng.choice(list(type_.values))
        return self.scalar(name, get_named_type(type_).name)

    def scalar(self, name: str, type_: str) -> Any:
        match type_:
            case "ID":
                return self.identifier(name)
            case "Int":
                return self.rng.choice([0, 1, 1, 2, 3, -1, HIGHEST])
            case "Float":
                return 0.5
            case "Boolean":
                return self.chance(0.5)
            case "DateTime":
                return self.values.row("pages")["updated_at"].isoformat()
            case "JSON":
                return self.rng.choice([{"a": 1}, {"a": {"b": [None]}}, {}, [1], "text"])
        return self.rng.choice(OF_NAMES.get(name, TEXTS))

    def identifier(self, name: str) -> str:
        scope = self.values.scope
        if name == "tenantId":
            return str(scope.tenant_id) if self.chance(0.95) else "nonsense"
        if name in ("ownerId", "userId", "agentId"):
            return str(scope.owner_id if self.chance(0.8) else self.values.row("owners")["id"])
        rows = self.values.own[TABLES.get(name, "pages")]
        row = self.rng.choice(rows) if self.chance(0.9) else self.values.row("pages")
        return str(row["id"]) if self.chance(0.97) else "nonsense"
