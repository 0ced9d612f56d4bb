"""Tests that callers who read or write by a grant neither see nor change secret pages and sections."""

import io
import zipfile
from typing import Any

import pytest

from db.scope import Role
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, delete_page
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki

WORDS = ("Zanzibar", "zanzibar", "quux")
PARTLY = "Open to all.\n\n## Pay {sensitivity=secret}\n\nMuch quux.\n\n## Public\n\nSeen by all."
PATHS = (
    "/pages", "/pages/open", "/pages/open/history", "/pages/zanzibar", "/pages/zanzibar/history", "/search?q=Salary",
    "/search?q=salaries&in=pages,sources", "/search/sources?q=salaries", "/context?q=salaries+of+all", "/map",
    "/activity", "/diary", "/changes", "/sources", "/lint", "/proposals", "/contradictions", "/suggest?q=Zan",
)  # fmt: skip


@pytest.fixture(params=[Grant.READER, Grant.MEMBER])
async def guest(request: pytest.FixtureRequest, service: Service, wiki: Wiki) -> Any:
    """Return a client, and the headers of another owner who has a grant to read or to write the wiki."""
    tenant_id = wiki.scope.tenant_id
    owner = await create_owner(wiki.database, tenant_id, OwnerKind.USER, "guest", "Guest")
    await grant(wiki.database, tenant_id, owner_id=wiki.scope.owner_id, grantee_id=owner.id, role=request.param)
    key = await create_api_key(wiki.database, tenant_id, "guest", Role.MEMBER, [owner.id])
    return service.http, {"Authorization": f"Bearer {key.key}", "X-Cairn-Owner": str(wiki.scope.owner_id)}


async def test_rest_and_exports_show_no_secret_to_a_guest(guest: Any, service: Service, token: str, wiki: Wiki) -> None:
    secret = {"sensitivity": "secret"}
    for title, body, metadata in (("Zanzibar", "The quux salary.", secret), ("Open", PARTLY, {})):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, metadata=metadata))
    gone = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Zanzibar two", metadata=secret))
    await delete_page(wiki.database, wiki.scope, gone.page_id)
    http, headers = guest
    own = RestClient(service.http, token)
    guest_texts = ""
    paths_with_secrets = 0
    for path in PATHS:
        answer = await http.get(f"/api/wiki{path}", headers=headers)
        assert answer.status_code < 500, (path, answer.text)
        assert not [word for word in WORDS if word in answer.text.replace("q=Zan", "")], (path, answer.text)
        guest_texts += answer.text
        own_text = (await own.get(path)).text
        paths_with_secrets += any(word in own_text for word in WORDS)
    assert paths_with_secrets > len(PATHS) / 3, "the owner sees the secrets"
    assert "Seen by all." in guest_texts
    export = await http.get("/api/wiki/export.zip?history=true", headers=headers)
    archive = zipfile.ZipFile(io.BytesIO(export.content))
    files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert not [name for name, text in files.items() for word in WORDS if word in name + text]
    assert any("Seen by all." in text for text in files.values())


async def test_a_guest_cannot_change_pages_with_secrets(guest: Any, wiki: Wiki) -> None:
    http, headers = guest
    ids = [
        (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, metadata=metadata))).page_id
        for title, body, metadata in (("Zanzibar", "Quux.", {"sensitivity": "secret"}), ("Open", PARTLY, {}))
    ]
    before = [await wiki.page(page_id) for page_id in ids]
    for page_id in map(str, ids):
        for mutation, given in {
            "updateWikiPage": {"pageId": page_id, "bodyMd": "x"},
            "renameWikiPage": {"pageId": page_id, "title": "x"},
            "archiveWikiPage": {"pageId": page_id},
            "editWikiPage": {"pageId": page_id, "oldText": "all", "newText": "x"},
            "mergeWikiPages": {"fromPageIds": [ids[0].hex], "intoPageId": page_id},
        }.items():
            kind = mutation[0].upper() + mutation[1:] + "Input"
            text = f"mutation($i: {kind}!) {{ {mutation}(input: $i) {{ __typename }} }}"
            answer = await http.post("/graphql", json={"query": text, "variables": {"i": given}}, headers=headers)
            assert answer.json().get("errors"), (mutation, answer.text)
            assert not [word for word in WORDS if word in answer.text], (mutation, answer.text)
    assert [await wiki.page(page_id) for page_id in ids] == before


async def test_a_raised_ceiling_shows_secrets_to_a_guest(guest: Any, wiki: Wiki) -> None:
    http, headers = guest
    secret = PageDraft("topic", "Zanzibar", body="Quux.", metadata={"sensitivity": "secret"})
    await create_page(wiki.database, wiki.scope, secret)
    assert "Zanzibar" not in (await http.get("/api/wiki/pages", headers=headers)).text
    await update_wiki_settings(
        wiki.database, wiki.scope, WikiSettings(reader_ceiling="secret", member_ceiling="secret")
    )
    assert "Zanzibar" in (await http.get("/api/wiki/pages", headers=headers)).text
