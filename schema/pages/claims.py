"""Superseded claims of pages, and contradictions between claims."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind, WikiContradictionResolution, WikiContradictionStatus
from ..fields import Connection, Node, OlderOwner, OwnerName, column, expression, relation, source
from ..sources import WikiSource
from .pages import WikiPage

claims, contradictions = relations.claims, relations.contradictions


@strawberry.type(description="A superseded claim, with the claim that replaced it.")
class WikiSupersededClaim(Node):
    fact: str = column("Superseded claim.")
    replacement: str = column("Claim that replaced it.")
    section_slug: str | None = column(
        "Slug of the section with the claim, which may no longer exist. Null for the whole page."
    )
    heading: str | None = column("Heading of the section when the claim was superseded.")
    superseded_on: datetime = column("Time until which the claim held.")
    stated_by: WikiSource | None = relation(claims.stated_by, "Source of the superseded claim, if known.")
    overridden_by: WikiSource | None = relation(claims.overridden_by, "Source of the new claim, if known.")
    author_kind: WikiAuthorKind = column("Kind of author who recorded it.")
    author_id: str = column("Id of the author, as the credential names it.")
    created_at: datetime = column("Time at which it was recorded.")
    page: WikiPage = relation(claims.page, "The page that made the claim.")


@strawberry.type(description="Two claims of a page that cannot both hold. Resolve it with resolveWikiContradiction.")
class WikiContradiction(Node):
    status: WikiContradictionStatus = column("Current status.")
    older_claim: str = column("Older claim, in the words of its source.")
    older_section_slug: str | None = column("Slug of the section that stated it. The section may no longer exist.")
    older_on: datetime = column("Capture time of its source.")
    older_source: WikiSource | None = relation(contradictions.older_source, "Source of the claim, if known.")
    older_support: int = column("Number of sources of the page that stated it when it was recorded.")
    newer_claim: str = column("Newer claim, in the words of its source.")
    newer_section_slug: str | None = column("Slug of the section that stated it. The section may no longer exist.")
    newer_on: datetime = column("Capture time of its source.")
    newer_source: WikiSource | None = relation(contradictions.newer_source, "Source of the claim, if known.")
    newer_support: int = column("Number of sources of the page that stated it when it was recorded.")
    suggested_resolution: WikiContradictionResolution | None = expression(
        contradictions.suggested_resolution,
        (
            "Suggested resolution: the newer claim. Null, for people to decide, if three or more "
            "sources state the older claim and fewer the newer one, or if both are of the same time."
        ),
    )
    resolution: WikiContradictionResolution | None = column("Decision. Null while it is open.")
    reason: str | None = column("Reason for the decision.")
    resolved_at: datetime | None = column("Time of the decision.")
    resolver_kind: WikiAuthorKind | None = column("Kind of author that decided it.")
    resolver_id: str | None = column("Id of the person or program that decided it, as the credential names it.")
    author_kind: WikiAuthorKind = column("Kind of author who recorded it.")
    author_id: str = column("Id of the author, as the credential names it.")
    created_at: datetime = column("Time at which it was recorded.")
    page: WikiPage = relation(contradictions.page, "Page with both claims.")


@strawberry.type
class ContradictionQueries:
    @source(contradictions.listed, "The contradictions of a wiki, newest first.")
    def wiki_contradictions(
        status: WikiContradictionStatus | None = None,
        page_id: strawberry.ID | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiContradiction]: ...
