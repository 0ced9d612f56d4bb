"""Superseded claims: what pages used to say."""

from datetime import datetime

import strawberry

from db import relations

from ..connections import Node
from ..enums import WikiAuthorKind
from ..fields import column, relation
from ..sources import WikiSource
from .pages import WikiPage

claims = relations.claims


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
