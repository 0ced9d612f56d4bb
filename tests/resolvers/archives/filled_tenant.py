"""Helpers that fill a tenant with rows in most tables."""

from hashlib import sha256
from uuid import UUID

from db.database import Database
from db.scope import Role
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.attachments import AttachmentDraft, keep_attachments, read_attachment
from resolvers.sources.blobs import OriginalDraft, read_original
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.wiki import Wiki

FILE = bytes(range(256)) + b"\\N\t\n"


async def fill_wiki(wiki: Wiki, pages: int = 6, name: str = "Kiln") -> UUID:
    """Create pages with sources, names, links, revisions and a mention. Return the last page."""
    here, last = (wiki.database, wiki.scope), UUID(int=0)
    for n in range(pages):
        body = f"## Notes\n\nOf {n}, after [[{name} {n - 1}]].\tTabs, \\ and ünïcode."
        last = (await create_page(*here, PageDraft("topic", f"{name} {n}", body=body))).page_id
        source = (await add_source(*here, SourceDraft("document", f"doc-{n}", f"Doc {n}\nof {name}."))).source_id
        await cite_source(*here, page_id=last, section_slug="notes", source_id=source)
        await add_alias(*here, last, name=f"Another {name} {n}")
        await update_page(*here, last, body=f"{body} Anew.", edit_summary="Anew")
        await record_mention(*here, name=f"Name {n % 3}", source_id=source, quote="So")
    await keep_attachments(*here, [AttachmentDraft(f"{name}/Plan.png", sha256(FILE).digest(), FILE)])
    original = OriginalDraft(FILE[::-1], "application/pdf", f"{name}.pdf")
    await add_source(*here, SourceDraft("document", "read", f"As {name} was read.", original=original))
    return last


async def filled_files(wiki: Wiki, name: str = "Kiln") -> tuple[bytes, bytes]:
    """Return the bytes of the attachment and of the original file in a filled wiki."""
    (source,) = await wiki.rows("sources", ref="read")
    attached = await read_attachment(wiki.database, wiki.scope, f"{name}/Plan.png")
    return attached.data, (await read_original(wiki.database, wiki.scope, source["id"])).data


async def fill_tenant(database: Database, tenant_id: UUID, owner_id: UUID) -> str:
    """Create another owner, and a key for both owners. Return the key."""
    other = await create_owner(database, tenant_id, OwnerKind.SHARED, "team", "Team")
    await grant(database, tenant_id, owner_id=other.id, grantee_id=owner_id, role=Grant.MEMBER)
    return (await create_api_key(database, tenant_id, "service", Role.SERVICE, [owner_id, other.id])).key
