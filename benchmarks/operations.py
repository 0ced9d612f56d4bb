"""What is measured: three reads, each as a GraphQL document and as one SQL statement written by hand."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from .wikis import TYPES, VOCABULARY, Author, Wiki

PAGE = """
query Page($tenant: ID!, $type: WikiPageType!, $slug: String!) {
  wikiPage(tenantId: $tenant, type: $type, slug: $slug) {
    id title summary
    sections { sectionSlug heading bodyMd }
    aliases
    parent { id title }
    backlinks(first: 10) { nodes { id title slug } }
  }
}"""
LIST = """
query List {
  wikiPages(first: 20, orderBy: HUBNESS) {
    nodes {
      id title
      sections { heading bodyMd }
      aliases
      parent { title parent { title } }
      children { title }
    }
  }
}"""

PAGE_SQL = """
SELECT json_build_object('wikiPage', (
  SELECT json_build_object('id', p.id, 'title', p.title, 'summary', p.summary,
    'sections', (SELECT coalesce(json_agg(json_build_object(
        'sectionSlug', s.section_slug, 'heading', s.heading, 'bodyMd', s.body_md) ORDER BY s.position), '[]')
      FROM sections s WHERE s.tenant_id = $1 AND s.page_id = p.id),
    'aliases', (SELECT coalesce(json_agg(a.alias ORDER BY a.alias), '[]')
      FROM aliases a WHERE a.tenant_id = $1 AND a.page_id = p.id),
    'parent', (SELECT json_build_object('id', u.id, 'title', u.title)
      FROM pages u WHERE u.tenant_id = $1 AND u.id = p.parent_page_id AND u.status = 'active'),
    'backlinks', (SELECT json_build_object('nodes', coalesce(json_agg(json_build_object(
        'id', b.id, 'title', b.title, 'slug', b.slug)), '[]'))
      FROM (SELECT o.id, o.title, o.slug FROM pages o
        WHERE o.tenant_id = $1 AND o.status = 'active' AND o.id IN (
          SELECT l.from_page_id FROM links l WHERE l.tenant_id = $1 AND l.to_page_id = p.id)
        ORDER BY o.hubness_score DESC, o.id DESC LIMIT 10) b))
  FROM pages p
  WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.type = $3 AND p.slug = $4 AND p.status = 'active'))"""
LIST_SQL = """
SELECT json_build_object('wikiPages', json_build_object('nodes', coalesce(json_agg(node), '[]'))) FROM (
  SELECT json_build_object('id', p.id, 'title', p.title,
    'sections', (SELECT coalesce(json_agg(json_build_object('heading', s.heading, 'bodyMd', s.body_md)
        ORDER BY s.position), '[]')
      FROM sections s WHERE s.tenant_id = $1 AND s.page_id = p.id),
    'aliases', (SELECT coalesce(json_agg(a.alias ORDER BY a.alias), '[]')
      FROM aliases a WHERE a.tenant_id = $1 AND a.page_id = p.id),
    'parent', (SELECT json_build_object('title', u.title, 'parent', (SELECT json_build_object('title', v.title)
        FROM pages v WHERE v.tenant_id = $1 AND v.id = u.parent_page_id AND v.status = 'active'))
      FROM pages u WHERE u.tenant_id = $1 AND u.id = p.parent_page_id AND u.status = 'active'),
    'children', (SELECT coalesce(json_agg(json_build_object('title', c.title) ORDER BY c.title, c.id), '[]')
      FROM pages c WHERE c.tenant_id = $1 AND c.parent_page_id = p.id AND c.status = 'active')) AS node
  FROM pages p WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.status = 'active'
  ORDER BY p.hubness_score DESC, p.id DESC LIMIT 20) nodes"""


WORDS = VOCABULARY[20:400]  # neither on every page nor on hardly any


class Operation(NamedTuple):
    """One read. `variables` draws those of one request."""

    document: str
    sql: str
    variables: Callable[[random.Random, Wiki], dict[str, Any]]
    arguments: tuple[str, ...] = ()
    """The variables that the statement takes after tenant and owner."""


author = cache(Author)


def of_page(rng: random.Random, wiki: Wiki) -> dict[str, Any]:
    number = rng.choice([number for number in range(wiki.pages) if number % 20 != 19])
    kind = TYPES[number % len(TYPES)].upper()
    return {"tenant": str(wiki.tenant_id), "type": kind, "slug": author(wiki).slug(number)}


def of_list(rng: random.Random, wiki: Wiki) -> dict[str, Any]:
    return {}


OPERATIONS = {
    "page": Operation(PAGE, PAGE_SQL, of_page, ("type", "slug")),
    "list": Operation(LIST, LIST_SQL, of_list),
}
