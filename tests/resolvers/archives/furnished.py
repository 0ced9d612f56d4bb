"""A tenant with something in most tables."""

from uuid import UUID

from db.database import Database
from db.scope import Role
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.wiki import Wiki


async def furnish(wiki: Wiki, pages: int = 6, name: str = "Kiln") -> UUID:
    """Write pages with sources, names, links, a past and a reader; return the last page."""
    here, last = (wiki.database, wiki.scope), UUID(int=0)
    for n in range(pages):
        body = f"## Notes\n\nOf {n}, after [[{name} {n - 1}]].\tTabs, \\ and ünïcode."
        last = (await create_page(*here, PageDraft("topic", f"{name} {n}", body=body))).page_id
        source = (await add_source(*here, SourceDraft("document", f"doc-{n}", f"Doc {n}\nof {name}."))).source_id
        await cite_source(*here, page_id=last, section_slug="notes", source_id=source)
        await add_alias(*here, last, name=f"Another {name} {n}")
        await update_page(*here, last, body=f"{body} Anew.", edit_summary="Anew")
        await record_mention(*here, name=f"Name {n % 3}", source_id=source, quote="So")
    return last


async def furnish_tenant(database: Database, tenant_id: UUID, owner_id: UUID) -> str:
    """Make another owner, and a key that speaks for both; return the key."""
    other = await create_owner(database, tenant_id, OwnerKind.SHARED, "team", "Team")
    await grant(database, tenant_id, owner_id=other.id, grantee_id=owner_id, role=Grant.MEMBER)
    return (await create_api_key(database, tenant_id, "service", Role.SERVICE, [owner_id, other.id])).key
