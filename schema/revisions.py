"""The states a page had."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations

from .enums import WikiAuthorKind
from .fields import column, expression, relation
from .nodes import Node
from .pages import WikiPage


@strawberry.type(description="One saved state of a page; none is ever changed.")
class WikiRevision(Node):
    version: int = column("The version that it is the state of.")
    title: str = column("The title then.")
    summary: str | None = column("The summary then.")
    body_md: str = expression(relations.revisions.body, "The whole text then.")
    tags: list[str] = column("The tags then.")
    slug: str | None = expression(
        relations.revisions.slug, "The slug then; null in versions that were kept before it was."
    )
    aliases: list[str] | None = expression(
        relations.revisions.aliases, "The other names then, normalised; null like the slug."
    )
    metadata: JSON | None = expression(relations.revisions.metadata, "The metadata then; null like the slug.")
    edit_summary: str | None = column("What the author said of the change.")
    author_kind: WikiAuthorKind = column("Who wrote.")
    author_id: str = column("The author as the credential named it.")
    author_name: str = expression(
        relations.revisions.author_name,
        "The author's display name: of an owner or an API key the present one, else what the credential said.",
    )
    created_at: datetime = column("When.")
    erased_at: datetime | None = column("When its text was erased, together with a source that was forgotten.")
    page: WikiPage = relation(relations.revisions.page, "The page as it is now.")
