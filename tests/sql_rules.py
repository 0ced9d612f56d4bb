"""Checks the SQL that the suite executes: what would leave a tenant, or would not run on Citus.

The rules are those of docs/decisions/0003-tenancy-in-every-key.md, checked on the text alone: so each test run on one
plain server shows that the statements stay in one tenant and would run on many machines.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from db.archives.blobs import OF_ALL_TENANTS
from db.sql import statements, texts
from db.tables import metadata
from tests.sql_tenancy import LEVELS, TENANT, Level, elements, is_tenant, levels, parameter
from tests.sql_text import split, tree

REFERENCE_TABLES = frozenset({"installation", "tenants", "api_keys"})
OF_NO_TENANT = frozenset({"installation"})
TENANT_TABLES = frozenset(name for name, table in metadata.tables.items() if TENANT in table.c) - REFERENCE_TABLES

SENSITIVE = texts("access/sensitivity")
READ = {"SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", ""}
TAKES_NO_ROWS = {
    "ANALYZE", "CLOSE", "DEALLOCATE", "FETCH", "LISTEN", "NOTIFY", "RELEASE", "ROLLBACK", "SAVEPOINT", "UNLISTEN",
    "VACUUM",
}  # fmt: skip
VOLATILE = {
    "clock_timestamp", "currval", "gen_random_uuid", "lastval", "nextval", "pg_notify", "rand", "random",
    "random_normal", "set_config", "setval", "timeofday", "uuid", "uuid_generate_v4", "uuidv4", "uuidv7",
}  # fmt: skip
# Postgres has more immutable functions: add one here if it is needed and `\df+` shows it as immutable.
IMMUTABLE = {
    "abs", "array", "array_append", "array_cat", "array_concat", "array_length", "array_prepend", "array_remove",
    "array_size", "cardinality", "case", "cast", "ceil", "coalesce", "floor", "greatest", "if", "jsonb_set", "least",
    "left", "length", "lower", "md5", "nullif", "replace", "right", "round", "sha256", "substring", "trim",
    "upper",
}  # fmt: skip

MERGE = re.compile(r"\bMERGE\s+INTO\b", re.IGNORECASE)
TRIGGER = re.compile(r"CREATE\s+(OR\s+REPLACE\s+)?(CONSTRAINT\s+)?TRIGGER\b", re.IGNORECASE)
COPY_IN = re.compile(rf"COPY\s+[\w.\"]+\s*\([^)]*\b{TENANT}\b[^)]*\)\s*FROM\b", re.IGNORECASE)
SETS = re.compile(r"^SET\s+(?:(?:LOCAL|SESSION)\s+)?([\w.]+)|\bset_config\s*\(\s*'?([^',]*)", re.IGNORECASE)
KEEPS_MEANING = re.compile(
    r"\w+_timeout|application_name|characteristics|constraints|enable_\w+|hnsw\.\w+|jit|plan_cache_mode|transaction"
    r"|work_mem",
    re.IGNORECASE,
)
# The exception is a plan that is only explained.
FORCED_PLAN = re.compile(r"\bplan_cache_mode\b[^;]*\bforce_generic_plan\b(?!'?;\s*PREPARE\s+explained_)", re.IGNORECASE)
DDL_MODE = re.compile(
    r"SET\s+(?:LOCAL\s+|SESSION\s+)?citus\.multi_shard_modify_mode\s*(?:=|TO)\s*'?(\w+)", re.IGNORECASE
)
CHANGES_TABLES = re.compile(
    r"(?:CREATE|ALTER|DROP)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX)\b"
    r"|SELECT\s+create_(?:distributed|reference)_table\b",
    re.IGNORECASE,
)


def shape(statement: str) -> str:
    """Return a statement with `?` in place of parameters and of literals."""
    return " ".join(re.sub(r"\$\d+|'[^']*'", "?", statement).split())


# `Statement.render` writes the values into statements that are sent together with a BEGIN or a COMMIT. Such a statement
# is judged by its text in the file.
NAMED = {
    shape(statement): statement
    for named in (statements("pages/writing")["lock_wiki"], *statements("webhooks/changes").values())
    for statement in split(named.sql)
}


def violations(sql: str, tables: frozenset[str] | None = None) -> list[str]:
    """Return what is wrong with an executed text of one or more statements: the rule, the table, and what to do."""
    return list(judged(sql, TENANT_TABLES if tables is None else tables))


WHOLE_DATABASE = frozenset({OF_ALL_TENANTS})
"""The statements in which a backup and `cairn doctor` read the rows of all tenants, to copy and check all tables."""


@lru_cache(maxsize=8192)
def judged(sql: str, tables: frozenset[str]) -> tuple[str, ...]:
    if sql in WHOLE_DATABASE:
        return ()
    judging = (NAMED.get(shape(statement), statement) for statement in split(sql))
    faults = [fault for statement in judging for fault in statement_faults(statement, tables)]
    if FORCED_PLAN.search(sql):
        faults.append("plan_cache_mode force_generic_plan: Citus cannot plan a join without its values: leave it out")
    return tuple(dict.fromkeys(faults))


def statement_faults(statement: str, tables: frozenset[str]) -> Iterator[str]:
    verb = re.split(r"\W", statement, maxsplit=1)[0].upper()
    yield from setting_faults(statement)
    if MERGE.search(statement):
        yield "MERGE: Citus refuses it: write INSERT … ON CONFLICT"
    elif TRIGGER.match(statement):
        yield "CREATE TRIGGER: Citus refuses it: write what it would do in the statements themselves"
    elif verb in TAKES_NO_ROWS or not mention(tables).search(statement):
        return
    elif verb in READ:
        yield from query_faults(statement, tables)
    elif not COPY_IN.match(statement):
        yield f"{verb} on a tenant table: only queries, and COPY FROM with a column list that has tenant_id, may run"


@cache
def mention(tables: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(sorted(tables | REFERENCE_TABLES))})\b", re.IGNORECASE)


def setting_faults(statement: str) -> Iterator[str]:
    for found in SETS.finditer(statement):
        setting = (found[1] or found[2]).strip()
        if not KEEPS_MEANING.fullmatch(setting):
            yield f"setting {setting}: it does not reach the workers: write its value into the query"


def session_faults(executed: Iterable[str]) -> Iterator[str]:
    """Yield faults of statements that one session executed in this order: tables may change only in sequential mode."""
    mode = "parallel"
    for statement in (part for text in executed for part in split(text)):
        if found := DDL_MODE.match(statement):
            mode = found[1].lower()
        elif CHANGES_TABLES.match(statement) and mode != "sequential":
            yield f"{' '.join(statement.split()[:3])}: parallel DDL: SET citus.multi_shard_modify_mode TO 'sequential'"


def query_faults(statement: str, tables: frozenset[str]) -> Iterator[str]:
    try:
        query = tree(statement)
    except SqlglotError as error:
        yield f"unreadable: {str(error).splitlines()[0]}: write it in a way that sqlglot reads"
        return
    found = list(levels(query, tables | REFERENCE_TABLES))
    parts = [part for level in found for part in level.parts]
    for rule in (unbound, fixed_tenant, unsure_insert, unsafe_conflict, unsafe_change, computed_returning):
        for level in found:
            yield from rule(level)
    if any(isinstance(part, exp.Table) and part.name.lower() in tables for part in parts):
        yield from whole_faults(found, parts, tables)


def whole_faults(found: list[Level], parts: list[exp.Expr], tables: frozenset[str]) -> Iterator[str]:
    """Check the rules on a whole statement over tenant tables."""
    given = {level.bound[alias] for level in found for alias in level.tables if alias in level.bound}
    if len(given) > 1:
        yield f"two tenants: tenant_id is compared with {' and '.join(sorted(given))}: bind one parameter everywhere"
    for table, alias in (
        pair for level in found for pair in level.unbound if pair[0] in REFERENCE_TABLES - OF_NO_TENANT
    ):
        yield f"{table} {alias}: it is no way to the tenant: look the tenant up in a statement of its own"
    if any(isinstance(part, exp.Anonymous) and part.name.lower() == "pg_notify" for part in parts):
        yield "pg_notify in a query over a tenant table: a worker would lose it: send it in a statement of its own"
    arms = [part.alias.lower() for part in parts if isinstance(part, exp.CTE)]
    restricted = set(SENSITIVE) if arms[:1] == ["ceilings"] else set()  # what db.sensitivity puts before a statement
    for name in arms:
        if name in (tables | REFERENCE_TABLES) - restricted:
            yield f"WITH {name}: it hides the table of that name: call it something else"
    for part in parts:
        if is_row(part) and is_value(part):
            yield f"anonymous row {part.sql('postgres')}: a worker cannot send it: use jsonb_build_array or columns"
    yield from read_behind(found[0].query, tables)


def is_row(part: exp.Expr) -> bool:
    """Return whether the expression is `(a, b)` or `ROW(a, b)`."""
    return isinstance(part, exp.Tuple) or (isinstance(part, exp.Anonymous) and part.name.upper() == "ROW")


def is_value(row: exp.Expr) -> bool:
    """Return whether a row is selected or passed to a function, instead of being compared."""
    within, parent = row, row.parent
    while isinstance(parent, (exp.Paren, exp.Alias)) or is_ordered(within, parent):
        within, parent = parent, parent.parent
    if isinstance(parent, exp.Distinct):  # DISTINCT ON (…), count(DISTINCT (…))
        return False
    return isinstance(parent, (exp.Select, exp.Array)) or (
        isinstance(parent, exp.Func) and not isinstance(parent, (exp.Binary, exp.Cast, exp.Any, exp.All))
    )


def is_ordered(value: exp.Expr, parent: exp.Expr | None) -> bool:
    """Return whether an aggregate orders its input by the value, as in array_agg(value ORDER BY …)."""
    return isinstance(parent, exp.Order) and parent.this is value


def read_behind(query: exp.Expr, tables: frozenset[str]) -> Iterator[str]:
    """Check reads of a table that another arm writes: Citus runs the arms of a statement one after the other, and each
    sees what those before it have written."""
    given = query.args.get("with_")
    arms = [*(given.expressions if given is not None else ()), query]
    writers = [(place, written(arm), arm.alias) for place, arm in enumerate(arms)]
    for place, arm in enumerate(arms):
        for table in read_by(arm, query) & tables:
            for later, target, name in writers:
                if target != table or later == place:
                    continue
                if arm is query:
                    yield f"{table}: read beside {name}, which writes it: read it in a MATERIALIZED arm before that one"
                elif not arm.args.get("materialized"):
                    yield f"WITH {arm.alias}: it reads {table}, which another arm writes: make it MATERIALIZED"
                elif later < place:
                    yield f"WITH {arm.alias}: it reads {table} behind {name}, which writes it: put it before that one"


def written(arm: exp.Expr) -> str:
    """Return the table that an arm, or the statement itself, writes, or an empty text if it only reads."""
    change = arm.this if isinstance(arm, exp.CTE) else arm
    if not isinstance(change, (exp.Insert, exp.Update, exp.Delete)):
        return ""
    table = change.find(exp.Table) if isinstance(change.this, exp.Schema) else change.this
    return table.name.lower() if table is not None else ""


def read_by(arm: exp.Expr, query: exp.Expr) -> set[str]:
    """Return the names of the tables that an arm reads, or that the statement itself reads outside its arms."""
    change = arm.this if isinstance(arm, exp.CTE) else arm
    target = change.this if isinstance(change, (exp.Insert, exp.Update, exp.Delete)) else None
    if isinstance(target, exp.Schema):
        target = target.this
    parts = change.walk(prune=lambda node: arm is query and isinstance(node, exp.With))
    return {part.name.lower() for part in parts if isinstance(part, exp.Table) and part is not target}


def unbound(level: Level) -> Iterator[str]:
    beside = " beside FOR UPDATE" if level.query.args.get("locks") else ""
    for table, alias in level.unbound:
        if table not in REFERENCE_TABLES:
            yield f"{table} {alias}: not bound to the tenant: write {alias}.tenant_id = $n in its own select{beside}"


def fixed_tenant(level: Level) -> Iterator[str]:
    """Check for a tenant in the text itself: each tenant's statement would differ, and its access is not checked."""
    for part in level.parts:
        if not isinstance(part, (exp.EQ, exp.In)):
            continue
        sides = [part.this, *part.expressions, *filter(None, [part.args.get("expression")])]
        if any(map(is_tenant, sides)) and any(is_literal(value) for value in sides):
            yield f"literal tenant: {part.sql('postgres')}: pass it as a parameter"


def is_literal(value: exp.Expr) -> bool:
    while isinstance(value, (exp.Cast, exp.Paren)):
        value = value.this
    return isinstance(value, exp.Literal)


def unsure_insert(level: Level) -> Iterator[str]:
    """Check that every inserted row has a tenant_id that is a parameter or that of a bound row."""
    query, name = level.query, level.target
    if not name:
        return
    columns = [column.name.lower() for column in query.this.expressions] if isinstance(query.this, exp.Schema) else []
    if TENANT not in columns:
        yield f"INSERT {name}: no tenant_id among its columns: list the columns, tenant_id first"
        return
    source = query.args.get("expression")
    place = columns.index(TENANT)
    if not all(gives_tenant(row[: place + 1], place) for row in inserted(source)):
        yield f"INSERT {name}: its tenant_id is neither a parameter nor the tenant_id of a bound row: pass it as $n"
    if isinstance(source, exp.Values) and has_query(source):
        yield f"INSERT {name}: a sub-select in VALUES: Citus refuses it: write INSERT … SELECT"


def inserted(source: exp.Expr | None) -> Iterator[list[exp.Expr]]:
    """Yield the lists of values: one per row of VALUES, one per arm of a SELECT; none for DEFAULT VALUES."""
    if isinstance(source, exp.Values):
        yield from map(elements, source.expressions)
    elif isinstance(source, exp.SetOperation):
        yield from inserted(source.left)
        yield from inserted(source.right)
    elif isinstance(source, exp.Subquery):
        yield from inserted(source.this)
    elif source is not None:
        yield source.expressions


def gives_tenant(row: list[exp.Expr], place: int) -> bool:
    if len(row) <= place or any(value.is_star for value in row):
        return False
    value = row[place].unalias()
    return bool(parameter(value)) or is_tenant(value)


def unsafe_conflict(level: Level) -> Iterator[str]:
    conflict = level.query.args.get("conflict")
    if not isinstance(conflict, exp.OnConflict):
        return
    for name in sorted(calls(conflict) - IMMUTABLE):
        yield f"ON CONFLICT: {name}() may not be immutable: use excluded.<column> or a parameter"
    if has_query(conflict):
        yield "ON CONFLICT: a sub-select: Citus refuses it: use excluded.<column> or a parameter"
    yield from moved_tenant(conflict.expressions)


def unsafe_change(level: Level) -> Iterator[str]:
    query = level.query
    if not isinstance(query, (exp.Update, exp.Delete)):
        return
    for name in sorted(set().union(*map(called, level.parts)) & VOLATILE):
        yield f"{query.key.upper()}: {name}() is volatile: pass its value as a parameter"
    yield from moved_tenant(query.expressions)


def moved_tenant(assignments: list[exp.Expr]) -> Iterator[str]:
    for assignment in assignments:
        if isinstance(assignment, exp.EQ) and any(map(is_tenant, elements(assignment.this))):
            yield "SET tenant_id: a row never changes its tenant: leave it out"


def computed_returning(level: Level) -> Iterator[str]:
    returning = level.query.args.get("returning")
    for value in returning.expressions if returning is not None else ():
        plain = value.unalias().unnest()
        if not (isinstance(plain, exp.Column) or plain.is_star or is_inserted_flag(plain)):
            yield f"RETURNING {value.sql('postgres')}: return columns, or (xmax = 0), and compute in Python"


def is_inserted_flag(value: exp.Expr) -> bool:
    return isinstance(value, exp.EQ) and value.this.name == "xmax" and value.expression.name == "0"


def has_query(node: exp.Expr) -> bool:
    return node.find(*LEVELS) is not None


def calls(node: exp.Expr) -> set[str]:
    return set().union(*map(called, node.walk()))


def called(node: exp.Expr) -> set[str]:
    """Return the function that a node calls, in lower case, but no operators: sqlglot parses `@>` as a function."""
    if isinstance(node, exp.Anonymous):
        return {node.name.lower()}
    return {type(node).sql_name().lower()} if isinstance(node, exp.Func) and not isinstance(node, exp.Binary) else set()
