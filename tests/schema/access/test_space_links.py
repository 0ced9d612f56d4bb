"""Links into other wikis of the tenant are listed with their space, resolved for its readers, and linted."""

import re
from typing import Any

import pytest

from db.scope import Role
from resolvers.auth.owners import Grant, grant
from resolvers.context import Context
from resolvers.knowledge.lint import lint
from resolvers.links.targets import PrivateLink
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from schema.root import make_engine
from tests.schema.executing import execute_document
from tests.wiki import Wiki, check_derived_rows

ENGINE = make_engine()
TEXT = "[[team:kiln]], [[team:Clay|clay]], [[team:gone]], [[moon:x]], [t](wiki:team:old-kiln), [[kiln]]"
QUERY = """query ($id: ID!) { node(id: $id) { ... on WikiPage {
    spaceLinks { nodes { target space slug page { title ownerId } } } brokenLinks { nodes { target } }
} } }"""


async def neighbouring_wiki(wiki: Wiki, kind: str = "shared", slug: str = "team") -> Wiki:
    """Return another wiki of the tenant, for which the owner of the first has no grant."""
    other = await wiki.neighbour()
    await wiki.connection.execute(
        "UPDATE owners SET slug = $2, kind = $3 WHERE id = $1", other.scope.owner_id, slug, kind
    )
    return other


async def grant_reading(reader: Wiki, other: Wiki) -> None:
    owners = {"owner_id": other.scope.owner_id, "grantee_id": reader.scope.owner_id}
    await grant(reader.database, reader.scope.tenant_id, **owners, role=Grant.READER)


async def space_links(wiki: Wiki, page_id: Any) -> dict[str, str | None]:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), QUERY, id=str(page_id))
    nodes = answer["data"]["node"]["spaceLinks"]["nodes"]
    return {node["target"]: node["page"] and node["page"]["title"] for node in nodes}


async def linked_in_html(wiki: Wiki, page_id: Any) -> list[str]:
    """Return the addresses of the pages to which the text of a page leads as HTML."""
    query = "query ($id: ID!) { node(id: $id) { ... on WikiPage { bodyHtml } } }"
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), query, id=str(page_id))
    return re.findall(r'href="([^"]*)"', answer["data"]["node"]["bodyHtml"])


async def findings(wiki: Wiki) -> dict[str, list[str | None]]:
    names = ("broken_links", "unknown_spaces", "broken_space_links", "private_links")
    reports = {report.check.name: report for report in await lint(wiki.database, wiki.scope)}
    return {name: [found.detail for found in reports[name].findings] for name in names}


@pytest.fixture
async def member(wiki: Wiki) -> Wiki:
    return wiki.with_role(Role.MEMBER)


async def test_links_into_a_space_resolve_only_for_its_readers(member: Wiki) -> None:
    other = await neighbouring_wiki(member)
    kiln = await create_page(
        other.database, other.scope, PageDraft("topic", "Kiln", former_slugs=["old-kiln"], body="Hot.")
    )
    clay = await create_page(other.database, other.scope, PageDraft("topic", "Earth"))
    await add_alias(other.database, other.scope, clay.page_id, name="Clay")
    page = await create_page(member.database, member.scope, PageDraft("topic", "Mine", body=TEXT))
    unseen = dict.fromkeys(["moon:x", "team:clay", "team:gone", "team:kiln", "team:old-kiln"])
    assert await space_links(member, page.page_id) == unseen, "a wiki that nobody lets me read"
    assert await findings(member) == {
        "broken_links": ["kiln"],
        "unknown_spaces": list(unseen),
        "broken_space_links": [],
        "private_links": [],
    }
    await grant_reading(member, other)
    assert await space_links(member, page.page_id) == unseen | {
        "team:clay": "Earth", "team:kiln": "Kiln", "team:old-kiln": "Kiln",
    }  # fmt: skip
    assert await findings(member) == {
        "broken_links": ["kiln"],
        "unknown_spaces": ["moon:x"],
        "broken_space_links": ["team:gone"],
        "private_links": [],
    }
    of_kiln, of_clay = "/wiki/topic/kiln?owner=team", "/wiki/topic/earth?owner=team"
    assert await linked_in_html(member, page.page_id) == [of_kiln, of_clay, of_kiln]
    await archive_page(other.database, other.scope, kiln.page_id)
    assert await linked_in_html(member, page.page_id) == [of_clay]
    assert (await space_links(member, page.page_id))["team:kiln"] is None
    assert "team:kiln" in (await findings(member))["broken_space_links"]
    await check_derived_rows(member)


async def test_links_from_a_shared_page_into_a_private_wiki_do_not_resolve(member: Wiki) -> None:
    other = await neighbouring_wiki(member, "user", "mara")
    await create_page(other.database, other.scope, PageDraft("topic", "Secret"))
    await grant_reading(member, other)
    page = await create_page(member.database, member.scope, PageDraft("topic", "Mine", body="[[mara:secret]]"))
    assert await space_links(member, page.page_id) == {"mara:secret": "Secret"}
    await member.connection.execute("UPDATE owners SET kind = 'shared' WHERE id = $1", member.scope.owner_id)
    assert await space_links(member, page.page_id) == {"mara:secret": None}
    assert await linked_in_html(member, page.page_id) == []
    assert (await findings(member))["private_links"] == ["mara:secret"]
    admin = member.with_role(Role.ADMIN)
    assert await space_links(admin, page.page_id) == {"mara:secret": None}, "who sees both does not, either"


async def test_spaces_of_other_tenants_are_unknown(member: Wiki, dsn: str) -> None:
    await create_page(member.database, member.scope, PageDraft("topic", "Kiln"))
    page = await create_page(member.database, member.scope, PageDraft("topic", "Mine", body="[[own:kiln]]"))
    assert await space_links(member, page.page_id) == {"own:kiln": None}
    await member.connection.execute("UPDATE owners SET slug = 'own' WHERE id = $1", member.scope.owner_id)
    assert await space_links(member, page.page_id) == {"own:kiln": "Kiln"}, "one's own wiki by its name"


BACKLINKS = "query ($id: ID!) { node(id: $id) { ... on WikiPage { spaceBacklinks { totalCount nodes { title } } } } }"


async def space_backlinks(wiki: Wiki, page_id: Any) -> list[str]:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), BACKLINKS, id=str(page_id))
    found = answer["data"]["node"]["spaceBacklinks"]
    assert found["totalCount"] == len(found["nodes"])
    return sorted(node["title"] for node in found["nodes"])


async def test_space_backlinks_are_shown_only_to_readers_of_both_wikis(member: Wiki) -> None:
    other = await neighbouring_wiki(member)
    kiln = await create_page(
        other.database, other.scope, PageDraft("topic", "Kiln", former_slugs=["old-kiln"], body="Hot.")
    )
    await add_alias(other.database, other.scope, kiln.page_id, name="Oven")
    for title, text in (
        ("By slug", "[[team:kiln]]"), ("By former slug", "[t](wiki:team:old-kiln)"), ("By alias", "[[team:Oven]]"),
        ("Elsewhere", "[[team:clay]] [[kiln]]"), ("Of another space", "[[moon:kiln]]"),
    ):  # fmt: skip
        await create_page(member.database, member.scope, PageDraft("topic", title, body=text))
    assert await space_backlinks(other.with_role(Role.MEMBER), kiln.page_id) == [], "the team may not read my wiki"
    await grant_reading(member, other)
    assert await space_backlinks(member, kiln.page_id) == ["By alias", "By former slug", "By slug"]
    page = next(row for row in await member.rows("pages") if row["title"] == "By slug")
    await archive_page(member.database, member.scope, page["id"])
    assert await space_backlinks(member, kiln.page_id) == ["By alias", "By former slug"]
    await create_page(other.database, other.scope, PageDraft("topic", "Earth", slug="oven", body="Soil."))
    assert await space_backlinks(member, kiln.page_id) == ["By former slug"], "the name means another page now"


async def test_a_shared_page_may_not_link_into_a_private_wiki(member: Wiki) -> None:
    private = await neighbouring_wiki(member, "user", "mara")
    await create_page(private.database, private.scope, PageDraft("topic", "Secret"))
    await member.connection.execute("UPDATE owners SET kind = 'shared' WHERE id = $1", member.scope.owner_id)
    unseen = await create_page(member.database, member.scope, PageDraft("topic", "Early", body="[[mara:secret]]"))
    assert await space_links(member, unseen.page_id) == {"mara:secret": None}, (
        "nobody is told that there is such a wiki"
    )
    await grant_reading(member, private)
    with pytest.raises(PrivateLink) as refused:
        await create_page(member.database, member.scope, PageDraft("topic", "Mine", body="See [[mara:secret]]."))
    assert (refused.value.code, refused.value.field) == ("PRIVATE_LINK", "bodyMd")
    given = '{type: TOPIC, title: "A", bodyMd: "[[mara:x]]"}'
    make = f"mutation {{ createWikiPage(input: {given}) {{ userErrors {{ code field }} }} }}"
    answer = await execute_document(ENGINE, Context(member.database, member.scope), make)
    errors = [{"code": "PRIVATE_LINK", "field": ["bodyMd"]}]
    assert answer["data"]["createWikiPage"]["userErrors"] == errors
    page = await create_page(member.database, member.scope, PageDraft("topic", "Mine", body="Nothing."))
    assert len(await member.rows("pages")) == 2
    with pytest.raises(PrivateLink):
        await update_page(member.database, member.scope, page.page_id, body="See [[mara:secret]].")
    await update_page(member.database, member.scope, unseen.page_id, body="Still [[mara:secret]].")
