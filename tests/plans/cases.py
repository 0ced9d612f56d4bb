"""Defines the reads that must be fast, whatever else the database contains."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from benchmarks.wikis import VOCABULARY, Author, Wiki

START, PER_OBJECT = 100, 14
"""The allowed blocks for finding the start, and for each object of the response: a few index descents."""


@dataclass(frozen=True)
class Case:
    """One read. Its selection may use any of the names of `values`."""

    root: str
    """The field of Query."""
    arguments: str
    selection: str
    indexes: Set[str] = frozenset()
    """The indexes without which the read would scan the whole wiki."""
    per_page: float = 0
    """The allowed blocks per page of the wiki, for reads that count, rank or sort all matches."""

    is_steady: bool = False
    """True if growth of other wikis must not increase the blocks, except for the depth of an index."""

    @property
    def document(self) -> str:
        text = f"{{ {self.root}{self.arguments and f'({self.arguments})'} {self.selection} }}"
        declared = ", ".join(f"${name}: {type_}" for name, type_ in TYPES.items() if f"${name}" in text)
        return f"query ({declared}) {text}" if declared else text

    def max_blocks(self, objects: int, pages: int) -> float:
        return START + PER_OBJECT * objects + self.per_page * pages


TYPES = {
    "tenant": "ID!", "owner": "ID!", "page": "ID!", "hub": "ID!", "leaf": "ID!", "proposal": "ID!", "ids": "[ID!]!",
    "slug": "String!", "after": "String", "since": "DateTime!", "prefix": "String!", "common": "String!",
    "rare": "String!", "day": "String!", "alias": "String!", "mistake": "String!",
}  # fmt: skip


def values(wiki: Wiki) -> dict[str, Any]:
    """Return the variables of the documents for one wiki."""
    author, middle = Author(wiki), wiki.pages // 20 * 10
    return {
        "tenant": str(wiki.tenant_id),
        "owner": str(wiki.owner_id),
        "page": str(wiki.page(middle)),
        "hub": str(wiki.page(0)),
        "leaf": str(wiki.page(wiki.pages - 3)),
        "ids": [str(wiki.page(number)) for number in range(0, wiki.pages, wiki.pages // 10)],
        "proposal": str(wiki.proposal(middle)),
        "slug": author.slug(middle),
        "day": author.moment(0).date().isoformat(),
        "since": author.moment(wiki.pages - 30).isoformat(),
        "prefix": author.titles[middle],
        "common": VOCABULARY[0],
        "rare": author.titles[middle].split()[-1],
        "alias": f"nick{middle}",
        "mistake": author.titles[middle].replace(" ", "x ", 1),
    }


IN = "tenantId: $tenant"
ROW = "{ id title }"
REPRESENTED = 'representations: [{__typename: "WikiPage", id: $page}, {__typename: "WikiPage", id: $hub}]'
LIST = "{ nodes { id title } pageInfo { endCursor hasNextPage } }"
NAMED, EVIDENCE = LIST.replace("title", "name"), LIST.replace("title", "ref")
HITS = "{ score page { id title } }"
SUGGESTED = "{ name kind page { id title } }"
RESULTS = """{
    edges { cursor score matchedAlias section { heading } snippet { html highlights { start } } node { id title } }
    nodes { id slug }
    pageInfo { endCursor hasNextPage } totalCount facets { types { value count } tags { value count } } didYouMean
}"""
FOUND_BOTH = "{ hits { score page { id } passage { position source { id } } } }"
PASSAGES = """{
    edges {
        cursor score snippet { html } node { text lineStart source { ref } sections(first: 3) { nodes { heading } } }
    }
    pageInfo { endCursor hasNextPage } totalCount
}"""
WORDS = {"search_pages_words_ix", "page_names_owner_ix"}


def page_case(
    id: str, selection: str, indexes: Set[str] = frozenset(), per_page: float = 0, *, is_steady: bool = False
) -> Case:
    """Return a case for what belongs to a page that is known by its id."""
    return Case("node", f"id: {id}", f"{{ id ... on WikiPage {{ {selection} }} }}", indexes, per_page, is_steady)


CASES = {
    "page by slug": Case(
        "wikiPage",
        f"{IN}, type: ENTITY, slug: $slug",
        "{ id title sections { heading bodyMd } aliases parent { title } children { title } }",
        {"aliases_alias_uq", "pages_parent_ix"},
    ),
    "page by old slug": Case(
        "wikiPage", f'{IN}, type: ENTITY, slug: "once-10"', "{ id redirectedFrom }", {"old_slugs_pk"}
    ),
    "node": Case("node", "id: $page", "{ id ... on WikiPage { title } }", {"pages_pk"}),
    "entities": Case("_entities", REPRESENTED, "{ ... on WikiPage { id title } }", {"pages_pk"}),
    "nodes": Case("nodes", "ids: $ids", "{ id ... on WikiPage { title } }", {"pages_pk"}),
    "pages by title": Case("wikiPages", "first: 20, after: $after", LIST, {"pages_lower_title_ix"}),
    "pages by update": Case("wikiPages", "orderBy: UPDATED, first: 20, after: $after", LIST, {"pages_updated_ix"}),
    "pages by age": Case("wikiPages", "orderBy: CREATED, first: 20, after: $after", LIST),
    "pages by hubness": Case("wikiPages", "orderBy: HUBNESS, first: 20, after: $after", LIST, {"pages_hubness_ix"}),
    "pages backwards": Case("wikiPages", "last: 20", "{ nodes { id title } }", {"pages_lower_title_ix"}),
    "pages of types": Case("wikiPages", "filter: {types: [DECISION]}, first: 20, after: $after", LIST),
    "pages with a tag": Case("wikiPages", 'filter: {tags: ["tag-7"]}, first: 20, after: $after', LIST, per_page=0.1),
    "pages with two tags": Case("wikiPages", 'filter: {tags: ["tag-7", "tag-8"]}', LIST, {"pages_tags_ix"}),
    "archived pages": Case("wikiPages", "filter: {status: ARCHIVED}, first: 20", LIST, {"pages_lower_title_ix"}),
    "stubs": Case("wikiPages", "filter: {isStub: true}, first: 20", LIST, {"pages_lower_title_ix"}, per_page=20),
    "knowledge map": Case("wikiKnowledgeMap", "first: 20", "{ bodyMd nextCursor }", per_page=1.5),
    "activity log": Case("wikiActivityLog", "first: 20", "{ bodyMd nextCursor }"),
    "diary": Case(
        "wikiDiary",
        "since: $day, until: $day, lines: 20",
        "{ bodyMd days { counts { total } entries { text page { title } } } }",
        {"activity_at_ix"},
    ),
    # The plan is made for its values each time: a generic plan cannot know how few pages are so new.
    "pages since": Case("wikiPages", "filter: {updatedSince: $since}, first: 20", LIST, {"pages_updated_ix"}),
    "pages by prefix": Case("wikiPages", "filter: {titlePrefix: $prefix}", LIST, {"page_names_owner_ix"}),
    "changes": Case(
        "wikiChanges",
        "first: 20, after: $after",
        "{ nodes { pageId state page { title } } pageInfo { endCursor hasNextPage } }",
        {"page_positions_order_ix"},
    ),
    "recent pages": Case("recentWikiPages", "limit: 20", ROW, {"pages_updated_ix"}),
    # The list is ordered by hubness: each page that links here is read, however few are shown.
    "backlinks of a hub": Case("wikiBacklinks", "pageId: $hub, limit: 20", ROW, {"links_to_ix"}, per_page=1),
    "backlinks of a page": Case("wikiBacklinks", "pageId: $page, limit: 20", ROW, {"links_to_ix"}),
    "connected from a hub": Case("wikiConnectedPages", "pageId: $hub, limit: 20", ROW, per_page=1),
    "connected from a page": Case("wikiConnectedPages", "pageId: $page, limit: 20", ROW),
    "connected both ways": Case(
        "wikiConnectedPages", "pageId: $page, limit: 20, direction: BOTH", ROW, {"links_to_ix"}
    ),
    "backlinks in place": page_case(
        "$hub", "backlinks(first: 20) { edges { kinds node { id title } } }", {"links_to_ix"}, per_page=1
    ),
    "connected in place": page_case("$hub", "connectedPages(first: 20) { nodes { id title } }", per_page=1),
    "children": page_case(
        "$hub", "children { id title } childrenConnection(first: 20) { nodes { id } }", {"pages_parent_ix"}
    ),
    "ancestors": page_case("$leaf", "ancestors { id title }", {"pages_pk"}),
    "descendants": page_case(
        "$hub", "descendants(first: 80, depth: 2) { nodes { id } }", {"pages_parent_ix"}, is_steady=True
    ),
    "links": page_case(
        "$page", "links { nodes { kind toPage { id } } } brokenLinks { nodes { slug } }", {"link_targets_pk"}
    ),
    "history": page_case(
        "$page",
        "revisions(first: 5) { nodes { version bodyMd } } revision(version: 1) { title bodyMd }",
        {"revisions_version_uq"},
    ),
    "superseded claims": page_case(
        "$page",
        "supersededClaims { nodes { fact statedBy { ref } overriddenBy { ref } } }",
        {"superseded_claims_page_ix"},
    ),
    "contradictions of a page": page_case(
        "$page",
        "contradictions { nodes { olderClaim newerClaim suggestedResolution olderSource { ref } } }",
        {"contradictions_page_ix"},
    ),
    "contradictions": Case(
        "wikiContradictions",
        "status: OPEN, first: 20",
        "{ nodes { olderClaim page { title } } }",
        {"contradictions_owner_ix"},
    ),
    "proposals": Case(
        "wikiProposals",
        "status: OPEN, first: 20",
        "{ nodes { wordDiff conflicts isStale page { title } } }",
        {"proposals_owner_ix"},
    ),
    "proposal": Case(
        "wikiProposal", "proposalId: $proposal", "{ wordDiff conflicts page { title } }", {"proposals_pk"}
    ),
    "share links": Case(
        "wikiShareLinks", "first: 20", "{ nodes { isOpen authorName page { title } } }", {"share_links_owner_ix"}
    ),
    "share links of a page": Case(
        "wikiShareLinks", "pageId: $page, first: 20", "{ nodes { isOpen } }", {"share_links_page_ix"}
    ),
    "questions to decide": Case(
        "wikiDecisionQuestions", "first: 20", "{ nodes { question options } }", {"decision_questions_owner_ix"}
    ),
    "reports of lint": Case(
        "wikiLintReports", "first: 20", "{ nodes { found counts { name total } } }", {"lint_reports_owner_ix"}
    ),
    "trajectory": page_case("$page", "trajectory { fact replacement }", {"superseded_claims_page_ix"}),
    "versions compared": Case(
        "diffWikiRevisions",
        "pageId: $page, from: 1, to: 1",
        "{ unified fromRevision { version } toRevision { bodyMd } }",
        {"revisions_version_uq"},
    ),
    "evidence of a page": page_case(
        "$page",
        "sourceCount sources { nodes { ref } } citations { nodes { section { heading } source { ref } } }",
        {"section_sources_page_ix"},
    ),
    "mentions of a page": page_case("$page", "mentions { nodes { name } }", per_page=0.01),
    # Each node counts its neighbours, and the greatest hubs come first.
    "graph": Case(
        "wikiGraph",
        IN,
        "{ nodeCount nodes(limit: 20) { id edgeCount } edges(limit: 20) { source target } }",
        {"pages_hubness_ix", "links_to_ix"},
        per_page=7,
    ),
    "neighbourhood": Case(
        "wikiNeighbourhood", "pageId: $page", "{ nodes { id label } edges { source target } }", {"links_pair_uq"}
    ),
    "tags": Case("wikiTags", "", "{ nodes { tag count } }", per_page=0.3, is_steady=True),
    "mentions": Case("wikiMentions", "first: 20, after: $after", NAMED, {"mentions_seen_ix"}),
    "open mentions": Case("wikiMentions", "first: 20, status: OPEN, after: $after", NAMED, {"mentions_seen_ix"}),
    "sources": Case("wikiSources", "first: 20, after: $after", EVIDENCE, {"sources_captured_ix"}),
    "sources of a kind": Case("wikiSources", "kinds: [DOCUMENT], first: 20, after: $after", EVIDENCE),
    "reverse lookup": Case(
        "wikiSource",
        'kind: DOCUMENT, ref: "ref-0"',
        "{ id pageCount pages { nodes { id } } sections { nodes { id } } citations { nodes { id } } }",
        {"sources_ref_uq", "section_sources_source_ix"},
    ),
    # Five lists with their totals use the same citations: each pays for deeper indexes.
    "blast radius": Case(
        "wikiSource",
        'kind: DOCUMENT, ref: "ref-0"',
        """{ id blastRadius { sections { totalCount nodes { id } } soleSections { totalCount nodes { id } }
        pages { totalCount nodes { id } } shownOn { totalCount nodes { id } } names { totalCount nodes { id } } } }""",
        {"sources_ref_uq", "section_sources_source_ix", "links_to_ix"},
        per_page=0.2,
        is_steady=True,
    ),
    # A search weighs a bounded number of pages, however many contain the words.
    "search by a common word": Case("wikiSearch", f"{IN}, query: $common", HITS, WORDS, per_page=0.4, is_steady=True),
    "search by two letters": Case("wikiSearch", f'{IN}, query: "ka"', HITS, WORDS, per_page=0.4, is_steady=True),
    "search by a rare word": Case("wikiSearch", f"{IN}, query: $rare", HITS, WORDS, is_steady=True),
    "search by two words": Case("wikiSearch", f"{IN}, query: $prefix", HITS, WORDS, per_page=0.4, is_steady=True),
    "search with a mistake": Case("wikiSearch", f"{IN}, query: $mistake", HITS, WORDS, per_page=0.4, is_steady=True),
    "search by an alias": Case("wikiSearch", f"{IN}, query: $alias", HITS, WORDS, is_steady=True),
    "search results": Case("wikiSearchResults", "query: $rare, first: 10", RESULTS, WORDS, is_steady=True),
    "search results and their next page": Case(
        "wikiSearchResults", "query: $common, first: 10, after: $after", RESULTS, WORDS, per_page=0.8, is_steady=True
    ),
    "results of a type": Case(
        "wikiSearchResults",
        "query: $rare, filter: {types: [ENTITY, TOPIC]}",
        "{ nodes { id } totalCount }",
        WORDS,
        is_steady=True,
    ),
    "explained": Case(
        "wikiSearchResults",
        "query: $rare, explain: true",
        "{ edges { explanation { parts { name } } } }",
        WORDS,
        is_steady=True,
    ),
    "source search": Case(
        "wikiSearchSources", "query: $rare, first: 10", PASSAGES, {"search_passages_words_ix"}, is_steady=True
    ),
    # A search weighs a bounded number of passages, and their neighbours.
    "source search by a common word": Case(
        "wikiSearchSources",
        "query: $common, first: 10",
        PASSAGES,
        {"search_passages_words_ix"},
        per_page=1,
        is_steady=True,
    ),
    "search in everything": Case(
        "wikiSearchAll",
        "query: $rare, first: 10",
        FOUND_BOTH,
        {"search_pages_words_ix", "search_passages_words_ix"},
        is_steady=True,
    ),
    "context": Case(
        "wikiContext",
        "query: $rare, task: $alias",
        "{ text tokens items { kind page { id } section { id } } }",
        {"search_pages_words_ix", "search_passages_words_ix"},
        is_steady=True,
    ),
    # Each lexeme of the page is looked up, to find those that characterise it.
    "related": Case("relatedWikiPages", "pageId: $page", HITS, {"search_pages_words_ix"}, per_page=1.2),
    # The names that begin so are read up to a bound, however many there are.
    "pages by name": Case(
        "wikiNamedPages", "name: $prefix, includeArchived: true", "{ kind page { slug } }", {"page_names_owner_ix"}
    ),
    "suggestions": Case("wikiSuggest", "prefix: $prefix", SUGGESTED, {"page_names_owner_ix"}),
    "suggestions for a letter": Case("wikiSuggest", 'prefix: "n", limit: 20', SUGGESTED, {"page_names_owner_ix"}),
    "suggestions inside names": Case("wikiSuggest", "prefix: $rare", SUGGESTED, WORDS),
    "search from a telephone": Case("mobileWikiSearch", "query: $alias", HITS, WORDS),
    "viewer": Case("viewer", "", "{ role tenant { name } owner { name } scopes { nodes { name role } } }"),
    "owners": Case("wikiOwners", "", "{ nodes { name role } }"),
    "API keys": Case("wikiApiKeys", "", "{ nodes { name state owners { slug } } }"),
    "rate limit": Case("rateLimit", "", "{ limit cost remaining used resetAt }"),
    "jobs": Case("wikiCompileJobs", f"{IN}, ownerId: $owner", "{ id status }"),
    "jobs of a tenant": Case("wikiCompileJobs", IN, "{ id status }"),
}
