"""Superseded claims, which pages used to make, and contradictions between claims."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind, WikiContradictionResolution, WikiContradictionStatus
from ..fields import Connection, Node, OlderOwner, OwnerName, column, expression, relation, source
from ..sources import WikiSource
from .pages import WikiPage

claims, contradictions = relations.claims, relations.contradictions


@strawberry.type(description="A claim that a page used to make, and what it says now.")
class WikiSupersededClaim(Node):
    fact: str = column("What the page used to say.")
    replacement: str = column("What it says now.")
    section_slug: str | None = column(
        "The section that said it, which may be gone by now; null for the page as a whole."
    )
    heading: str | None = column("The heading of that section when the claim was superseded.")
    superseded_on: datetime = column("Until when the page said it.")
    stated_by: WikiSource | None = relation(claims.stated_by, "The source that stated the fact, if it is known.")
    overridden_by: WikiSource | None = relation(claims.overridden_by, "The source that overrode it, if it is known.")
    author_kind: WikiAuthorKind = column("Who recorded it.")
    author_id: str = column("The author as the credential named it.")
    created_at: datetime = column("When it was recorded.")
    page: WikiPage = relation(claims.page, "The page that made the claim.")


@strawberry.type(description="Two claims of a page that cannot both hold: resolveWikiContradiction decides it.")
class WikiContradiction(Node):
    status: WikiContradictionStatus = column("Where it stands.")
    older_claim: str = column("The older claim, as its source says it.")
    older_section_slug: str | None = column("The section that stated it, which may be gone by now.")
    older_on: datetime = column("When its source was captured.")
    older_source: WikiSource | None = relation(contradictions.older_source, "The source that states it, if known.")
    older_support: int = column("How many different sources of the page stated it when it was recorded.")
    newer_claim: str = column("The newer claim, as its source says it.")
    newer_section_slug: str | None = column("The section that stated it, which may be gone by now.")
    newer_on: datetime = column("When its source was captured.")
    newer_source: WikiSource | None = relation(contradictions.newer_source, "The source that states it, if known.")
    newer_support: int = column("How many different sources of the page stated it when it was recorded.")
    suggested_resolution: WikiContradictionResolution | None = expression(
        contradictions.suggested_resolution,
        "What the policy suggests: the newer claim, unless three sources or more state the older one and fewer the "
        "newer one, or both are of one moment. Null then: somebody has to decide.",
    )
    resolution: WikiContradictionResolution | None = column("What was decided; null while it is open.")
    reason: str | None = column("Why it was decided so.")
    resolved_at: datetime | None = column("When it was decided.")
    resolver_kind: WikiAuthorKind | None = column("Who decided it.")
    resolver_id: str | None = column("Who decided it, as the credential named them.")
    author_kind: WikiAuthorKind = column("Who recorded it.")
    author_id: str = column("The author as the credential named it.")
    created_at: datetime = column("When it was recorded.")
    page: WikiPage = relation(contradictions.page, "The page that makes both claims.")


@strawberry.type
class ContradictionQueries:
    @source(contradictions.listed, "The contradictions of a wiki, the newest first.")
    def wiki_contradictions(
        status: WikiContradictionStatus | None = None,
        page_id: strawberry.ID | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiContradiction]: ...
