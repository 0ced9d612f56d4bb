"""Faults to plant: each replaces a text that occurs once in a file with a plausible mistake."""

from typing import NamedTuple


class Fault(NamedTuple):
    file: str
    before: str
    after: str


FAULTS = [
    # selection/: pages of lists
    Fault("selection/compile/connection.py", "rows.c.number <= self.size", "rows.c.number < self.size"),
    Fault("selection/compile/connection.py", ".number) > self.size", ".number) >= self.size"),
    Fault("selection/compile/connection.py", "_by(rows.c.number.desc())", "_by(rows.c.number)"),
    Fault("selection/compile/connection.py", "row < limit if falling", "row <= limit if falling"),
    Fault("selection/compile/connection.py", "and_(*same[:i], step)", "and_(step)"),
    Fault("selection/compile/connection.py", "self.descending != backward", "self.descending"),
    Fault("selection/declare/arguments.py", "return min(value, paging.max_limit)", "return value"),
    # selection/: variables, shapes, directives, formats
    Fault("selection/compile/collect.py", 'return not (skip and skip["if"]) and', "return"),
    Fault("selection/compile/parameters.py", "request.variables.coerced.get(name, value)", "value"),
    Fault("selection/execute/resolve.py", "operation.shape(variables)), compile_plan", "0), compile_plan"),
    Fault("selection/compile/parameters.py", "return PRESENT\n", "return None\n"),
    Fault("selection/declare/json_format.py", "return func.upper(value)", "return value"),
    Fault("selection/declare/json_format.py", "return cast(value, JSON)", "return value"),
    Fault("selection/compile/compiler.py", "json_format.require_not_null(value) if self.mode", "value if self.mode"),
    Fault("selection/execute/plan.py", "await context.spend(self.checked_cost(request))", "pass"),
    Fault("selection/limits.py", "+ child.size.value * child.fixed", ""),
    Fault("selection/execute/plan.py", "if tables := unbound_tables(statement):", "if tables := None:"),
    # who may read
    Fault("db/access.py", "[owner_of(row) == owner] if owner", "[] if owner"),
    Fault("db/access.py", "[owner_of(row) == owner, readable(owner)]", "[owner_of(row) == owner]"),
    Fault("db/access.py", "[readable(owner_of(row))]", "[]"),
    Fault("db/access.py", "any_(OWNERS), grant.c.owner_id == owner)", "any_(OWNERS))"),
    Fault("db/access.py", "if scope.role is not Role.ADMIN:", "if scope.role is Role.READER:"),
    Fault("db/access.py", "if tenant_id is not None and identifier", "if False and identifier"),
    Fault("db/relations/access/owners.py", '(ROLE == "reader", "reader")', '(ROLE == "nobody", "reader")'),
    Fault("resolvers/permissions.py", "relation is None or not is_allowed", "relation is None and not is_allowed"),
    Fault("schema/mutations/scoping.py", ".scope, wiki.tenant_id, ", ".scope, None, "),
    # what is related
    Fault("db/relations/hierarchy.py", "tree.c.depth < deepest", "tree.c.depth <= deepest"),
    Fault("db/relations/pages.py", "and_(page.c.type == type, page.c.slug == slug)", "page.c.type == type"),
    Fault("db/relations/pages.py", ".scalar_subquery(), in_tenant(there).scalar_subquery())", ".scalar_subquery())"),
    Fault("db/relations/pages.py", "order_by(newest.desc(), source.c.ref)", "order_by(newest, source.c.ref)"),
    Fault("db/relations/hierarchy.py", ", in_tenant(standing).exists())", ")"),
    Fault("db/relations/pages.py", "name.c.name >= start, ", ""),
    Fault("db/relations/links.py", 'among(page, linking), page.c.status == "active")', "among(page, linking))"),
    Fault("db/relations/links.py", 'to_page = foreign_row(pages, "to_page', 'to_page = foreign_row(pages, "from_page'),
    Fault("db/relations/links.py", "page.c.id, target.c.to_page_id.is_(None)", "page.c.id"),
    Fault("db/relations/graph.py", "limit=LINKS_MAX), active(other))", "limit=LINKS_MAX))"),
    Fault("db/relations/graph.py", "*link_ends(page.c.id)), active(other))", "*link_ends(page.c.id)))"),
    Fault("db/relations/graph.py", "func.least(depth, STEPS_MAX)", "func.greatest(depth, STEPS_MAX)"),
    Fault("db/relations/mentions.py", "or_(mention.c.promoted_page_id == page.c.id, named.exists())", "named.exists()"),
    Fault(
        "db/relations/pages.py",
        ".order_by(row.c.ordinality)\n\n\ndef by_representation",
        ".order_by(row.c.ordinality.desc())\n\n\ndef by_representation",
    ),
    Fault("db/relations/sources.py", "order_by(source.c.version.desc())", "order_by(source.c.version)"),
    Fault("db/relations/pages.py", '.where(page.c.status == "active")', ""),
    # what is shown of a search
    Fault("selection/compile/collect.py", "self.gather(self.fragments[inner.name.value], found, spread)", "pass"),
    Fault("selection/compile/compiler.py", '(page.size) if page and "first" in', '(page.size) if page and "last" in'),
    Fault("db/access.py", "return BY_ID.criteria(row)", "return []"),
    Fault("db/access.py", "if explain and scope.role", "if False and scope.role"),
    Fault("db/relations/search.py", ", readable(hit.c.owner_id))", ")"),
    Fault("db/relations/search.py", ".where(readable(page.c.owner_id))", ""),
    Fault("db/relations/search.py", "order_by(hit.c.ordinality)", "order_by(hit.c.page_id)"),
    Fault("db/relations/search.py", ", found.c.page_id == hit.c.page_id)", ")"),
    Fault("db/relations/suggestions.py", '.where(first.c.status == "active")', ""),
    Fault("db/relations/suggestions.py", "is_within, func.length(found.c.name), ", "is_within, "),
    Fault("db/relations/suggestions.py", "(name.c.name != start, is_within, case(", "(is_within, case("),
    Fault("db/relations/suggestions.py", "query.ext(distinct_on(name.c.page_id)).order_by", "query.order_by"),
    Fault(
        "schema/search/search_rows.py", 'COUNTED = {"totalCount", "totalIsExact", "facets"}', 'COUNTED = {"totalCount"}'
    ),
    Fault("schema/search/search_rows.py", 'SHOWN = {"snippet", "section"}', 'SHOWN = {"snippet"}'),
]  # fmt: skip
