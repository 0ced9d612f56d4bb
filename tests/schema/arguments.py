"""Draws arguments of fields: mostly values that find something, sometimes null, foreign or nonsense."""

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from graphql import (
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_non_null_type,
)

from db.scope import Scope
from tests.schema.draws import TAGS
from tests.schema.reference.lists import cursor_of
from tests.schema.reference.query import KINDS
from tests.schema.wikis import SECTION_SLUGS
from tests.schema.world import Row, World

HUBS, TITLES, SEEN = ("-hubness_score", "-id"), ("title", "id"), ("-last_seen_at", "-id")
ORDERS = {"TITLE": ("lower", "id"), "UPDATED": ("-updated_at", "-id"), "CREATED": ("-id",), "HUBNESS": HUBS}
CURSORS: dict[str, tuple[str, tuple[str, ...]]] = {
    "childrenConnection": ("pages", TITLES),
    "pages": ("pages", TITLES),
    "connectedPages": ("pages", HUBS),
    "backlinks": ("pages", HUBS),
    "spaceBacklinks": ("pages", HUBS),
    "descendants": ("pages", ("depth", "id")),
    "mentions": ("mentions", SEEN),
    "wikiMentions": ("mentions", SEEN),
    "sources": ("sources", ("-captured_at", "-id")),
    "wikiSources": ("sources", ("-captured_at", "-id")),
    "citations": ("section_sources", ("-created_at", "-id")),
    "sections": ("sections", ("page_id", "id")),
    "soleSections": ("sections", ("page_id", "id")),
    "shownOn": ("pages", TITLES),
    "names": ("mentions", SEEN),
    "aliasesConnection": ("aliases", ("alias", "id")),
    "wikiOwners": ("owners", ("slug", "id")),
    "scopes": ("owners", ("slug", "id")),
    "wikiTags": ("tags", ("-count", "-tag")),
    "links": ("links", ("id",)),
    "brokenLinks": ("link_targets", ("target",)),
    "spaceLinks": ("link_targets", ("target",)),
    "revisions": ("revisions", ("-version",)),
    "supersededClaims": ("superseded_claims", ("-superseded_on", "-id")),
    "contradictions": ("contradictions", ("-id",)),
    "wikiContradictions": ("contradictions", ("-id",)),
    "wikiProposals": ("proposals", ("-id",)),
    "wikiShareLinks": ("share_links", ("-id",)),
    "wikiDecisionQuestions": ("decision_questions", ("-id",)),
    "wikiLintReports": ("lint_reports", ("-id",)),
}
LIFTED = (
    "wikiSearch", "mobileWikiSearch", "wikiSearchResults", "wikiSearchSources", "wikiSearchAll", "relatedWikiPages",
    "wikiHotIndex",
)  # fmt: skip
"""Fields that raise a size below one to one."""
SIZES = [0, 1, 2, 3, 5, 30, 200]
QUERIES = [
    "latte", "mocha", "Ünïcödé", "%", "_", "riv", "a b", "", "?!", "日本", "'; --", "e\u0301", "late",
    '"latte mocha" -river', "type:entity latte", "tag:coffee", "status:archived latte", "latte in:title", "-latte",
]  # fmt: skip
PREFIXES = ["", "L", "LATTE", "latte m", "é", "%", 'Say "hi', "日", "!!!", "also", "once-1", "latte-1", "a" * 300]
SPELLINGS = ("owner", "ownerId", "userId", "agentId")
NONSENSE = ["", "nonsense", "5", str(UUID(int=0)), "é", "' OR true --"]


class Values:
    """Draws values for one caller."""

    def __init__(self, world: World, scope: Scope, rng: random.Random) -> None:
        self.world, self.scope, self.rng = world, scope, rng
        self.tenant = world.of_tenant(scope.tenant_id)
        self.own = {
            name: [row for row in rows if row.get("owner_id", scope.owner_id) == scope.owner_id] or rows
            for name, rows in self.tenant.items()
        }

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def row(self, table: str) -> Row:
        """Draw a row of the caller's own wiki, of another wiki of its tenant, or of another tenant."""
        if self.chance(0.1):
            return self.rng.choice(self.world.tables[table])
        return self.rng.choice(self.tenant[table] if self.chance(0.2) else self.own[table])

    def subject(self, field: str) -> "Subject":
        return Subject(self, field)

    def identifier(self, name: str, field: str) -> str:
        if self.chance(0.06):
            return self.rng.choice(NONSENSE)
        if name == "tenantId":
            return str(self.scope.tenant_id) if self.chance(0.98) else str(self.row("tenants")["tenant_id"])
        if name in SPELLINGS:
            return str(self.scope.owner_id if self.chance(0.4) else self.row("owners")["id"])
        table = "sources" if name == "sourceId" else "proposals" if name == "proposalId" else "pages"
        id = self.row(self.rng.choice(list(KINDS)) if field in ("node", "nodes") else table)["id"]
        return str(id).upper() if self.chance(0.1) else str(id)

    def representation(self) -> Row:
        """Draw a representation as a gateway sends it; occasionally its id has another type."""
        table = self.rng.choice(list(KINDS))
        kind = KINDS[table] if self.chance(0.95) else self.rng.choice(list(KINDS.values()))
        return {
            "__typename": kind,
            "id": self.identifier("id", "node") if self.chance(0.1) else str(self.row(table)["id"]),
        }

    def integer(self, name: str, field: str) -> int:
        if name == "budgetTokens":
            return self.rng.choice([0, 1, 30, 200, 1000, 100_000, 10**9])
        if name == "depth":
            return self.rng.choice([-1, 0, 1, 1, 2, 2, 3, 5, 40])
        if name == "among":
            return self.rng.choice([-1, 0, 1, 3, 10, 1000, 6000])
        if name == "length":
            return self.rng.choice([-3, 0, 1, 5, 30, 200, 5000])
        if name in ("version", "from", "to"):
            return self.rng.choice([0, 1, 1, 2, 3])
        return -1 if self.chance(0.2 if field in LIFTED else 0.01) else self.rng.choice(SIZES)

    def text(self, name: str) -> str:
        if name == "query":
            return self.rng.choice(QUERIES)
        if name in ("owner", "spaces"):
            return self.row("owners")["slug"] if self.chance(0.6) else self.identifier("ownerId", name)
        if name in ("prefix", "titlePrefix"):
            return self.rng.choice(PREFIXES)
        if name in ("tags", "excludedTags"):
            return self.rng.choice(TAGS)
        if name == "name" and self.chance(0.8):
            return str(self.row("page_names")["name"])
        return self.rng.choice([*SECTION_SLUGS, "unknown"])

    def cursor(self, field: str, order: str) -> str:
        if self.chance(0.01) or field not in (*CURSORS, "wikiPages"):
            return self.rng.choice(["", "zz", "é", "W10="])
        table, keys = ("pages", ORDERS[order]) if field == "wikiPages" else CURSORS[field]
        extra = {"depth": self.rng.randint(1, 3), "count": self.rng.randint(1, 9), "tag": self.rng.choice(TAGS)}
        row = {} if table == "tags" else self.row(table)
        return cursor_of(extra | row, keys)


class Subject:
    """The page or source that one field of a document reads, named by several arguments that fit together."""

    def __init__(self, values: Values, field: str) -> None:
        self.values, self.field = values, field
        self.order = "TITLE"
        self.draw()

    def draw(self) -> None:
        """Draw another row, for other variables."""
        table = "old_slugs" if self.values.chance(0.5) else "pages"
        self.row = self.values.row("sources" if self.field == "wikiSource" else table)

    def value(self, name: str, type_: Any) -> Any:
        values = self.values
        if not is_non_null_type(type_) and values.chance(0.1):
            return None
        type_ = get_nullable_type(type_)
        if is_list_type(type_):
            return [self.value(name, type_.of_type) for _ in range(values.rng.randint(0, 3))]
        if is_input_object_type(type_):
            return {n: self.value(n, f.type) for n, f in type_.fields.items() if values.chance(0.25)}
        if name in ("slug", "ref", "type", "kind") and self.field in ("wikiPage", "wikiSource") and values.chance(0.95):
            found = self.row[name]
            return found.upper() if name in ("type", "kind") else found
        if is_enum_type(type_):
            return values.rng.choice(list(type_.values))
        return self.scalar(name, type_.name)

    def scalar(self, name: str, type_: str) -> Any:
        draw: dict[str, Callable[[], Any]] = {
            "ID": lambda: self.values.identifier(name, self.field),
            "Int": lambda: self.values.integer(name, self.field),
            "Boolean": lambda: self.values.chance(0.5),
            "DateTime": lambda: self.values.row("pages")["updated_at"].isoformat(),
            "String": lambda: self.values.text(name),
            "_Any": self.values.representation,
        }
        if name in ("after", "before"):
            return self.values.cursor(self.field, self.order)
        return draw[type_]()
