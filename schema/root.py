"""The root types, and the schema that is built from them once in each process."""

import strawberry
from graphql import GraphQLSchema, build_schema, lexicographic_sort_schema, print_schema
from strawberry.schema.config import StrawberryConfig

from selection import Engine, Limits, Resolvers

from .audit import AuditQueries
from .errors import format_error
from .federation import REPRESENTATION, FederationQueries, Representation
from .fields import NodeQueries
from .jobs import JobQueries
from .lint import LintQueries
from .mutations import Mutation
from .overview import OverviewQueries
from .owners import ApiKeyQueries, OwnerQueries, ProgramQueries, WikiOwner
from .pages.claims import ContradictionQueries, WikiContradiction, WikiSupersededClaim
from .pages.decisions import DecisionQueries
from .pages.graph import BlastRadiusQueries, GraphQueries
from .pages.hot_index import HotIndexQueries
from .pages.links import LinkQueries, WikiLink
from .pages.mentions import MentionQueries
from .pages.pages import PageQueries, WikiAlias
from .pages.positions import PositionQueries
from .pages.proposals import ProposalQueries
from .pages.revisions import HistoryQueries, WikiRevision
from .pages.sections import WikiSection
from .pages.share_links import ShareLinkQueries
from .rate_limits import RateLimitQueries
from .scalars import SCALARS
from .search.context_pack import ContextQueries
from .search.passages import PassageQueries
from .search.search import SearchQueries
from .search.search_all import SearchAllQueries
from .search.suggestions import SuggestionQueries, TagQueries
from .sources import SourceQueries, WikiCitation
from .subscriptions import Subscription
from .webhooks import WebhookQueries


@strawberry.type(description="All queries.")
class Query(
    PageQueries,
    SearchQueries,
    PassageQueries,
    SearchAllQueries,
    ContextQueries,
    SuggestionQueries,
    LinkQueries,
    GraphQueries,
    HotIndexQueries,
    MentionQueries,
    ContradictionQueries,
    DecisionQueries,
    ProposalQueries,
    ShareLinkQueries,
    SourceQueries,
    BlastRadiusQueries,
    LintQueries,
    OverviewQueries,
    TagQueries,
    PositionQueries,
    HistoryQueries,
    OwnerQueries,
    ApiKeyQueries,
    AuditQueries,
    ProgramQueries,
    JobQueries,
    NodeQueries,
    RateLimitQueries,
    WebhookQueries,
    FederationQueries,
):
    pass


def build() -> strawberry.Schema:
    return strawberry.Schema(
        Query,
        Mutation,
        Subscription,
        types=[
            WikiAlias,
            WikiCitation,
            WikiContradiction,
            WikiLink,
            WikiOwner,
            WikiRevision,
            WikiSection,
            WikiSupersededClaim,
        ],
        config=StrawberryConfig(scalar_map=SCALARS | {Representation: REPRESENTATION}),
    )


STRAWBERRY = build()
GRAPHQL: GraphQLSchema = STRAWBERRY._schema
Resolvers(GRAPHQL)


def sdl() -> str:
    """Return the schema as sorted text, so that a change of it changes few lines.

    Strawberry's own sorting would rebuild the types and lose the mappings that selection/ needs.
    """
    return print_schema(lexicographic_sort_schema(build_schema(STRAWBERRY.as_str()))) + "\n"


def make_engine(limits: Limits | None = None) -> Engine:
    """Return the engine that executes requests. Each process has one, because the engine caches the plans."""
    return Engine(GRAPHQL, limits=limits, formatter=format_error)
