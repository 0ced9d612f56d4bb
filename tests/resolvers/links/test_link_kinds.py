"""Links that are derived from evidence, and removed by their kind."""

import pytest

from db.scope import Role
from resolvers.errors import BadInput, Forbidden
from resolvers.links.links import DroppedLinks, drop_link_kind, link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.wiki import Wiki


async def checksums(wiki: Wiki) -> dict[str, str]:
    """Return a checksum of every table, for pages without the hubness score."""
    connection, found = wiki.connection, {}
    for (name,) in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        row = "to_jsonb(t) - 'hubness_score'" if name == "pages" else "t"
        text = f"md5(CAST({row} AS text))"
        found[name] = await connection.fetchval(f"SELECT md5(string_agg({text}, '' ORDER BY {text})) FROM {name} AS t")
    return found


async def linked(wiki: Wiki, *reasons: str, titles: str = "ABC") -> None:
    """Link the first page to the others, for all of these reasons."""
    start, *ends = [
        (await create_page(wiki.database, wiki.scope, PageDraft("entity", title))).page_id for title in titles
    ]
    for end in ends:
        for reason in reasons:
            await link_pages(wiki.database, wiki.scope, start, end, reason=reason)


async def reasons(wiki: Wiki) -> list[set[str]]:
    return list((await wiki.references()).values())


async def test_dropping_a_kind_deletes_only_links_without_another_reason(wiki: Wiki) -> None:
    await linked(wiki, "planner", "deterministic:city:austin", "deterministic:city:lisbon", "deterministic:cityscape")
    await linked(wiki, "deterministic:city:austin", titles="DE")
    await linked(await wiki.neighbour(), "deterministic:city:austin")
    before = await checksums(wiki)
    assert await drop_link_kind(wiki.database, wiki.scope, "deterministic:city:*", dry_run=True) == DroppedLinks(
        "deterministic:city", 3, 1
    )
    assert await checksums(wiki) == before, "a dry run writes nothing"
    done = await drop_link_kind(wiki.database, wiki.scope, "deterministic:city:*")
    assert (done.links, done.deleted) == (3, 1)
    assert await reasons(wiki) == [{"planner", "deterministic:cityscape"}] * 2
    after = await checksums(wiki)
    assert {name for name in before if before[name] != after[name]} == {"links", "activity"}
    hubness = {page["title"]: page["hubness_score"] for page in await wiki.rows("pages")}
    assert hubness == {"A": 0, "B": 1, "C": 1, "D": 0, "E": 0}
    assert (await wiki.actions())[-1] == "links.dropped"
    assert (await drop_link_kind(wiki.database, wiki.scope, "deterministic:city")).links == 0


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("deterministic:*", {"planner", "co_mention:1"}),
        ("deterministic", {"planner", "co_mention:1"}),
        ("deterministic:journal:trip", {"planner", "co_mention:1", "deterministic:city:austin"}),
        ("co_mention:*", {"planner", "deterministic:city:austin", "deterministic:journal:trip"}),
        (
            "deterministic:city:aus",
            {"planner", "co_mention:1", "deterministic:city:austin", "deterministic:journal:trip"},
        ),
    ],
)
async def test_a_kind_includes_the_kinds_below_but_not_longer_names(wiki: Wiki, kind: str, left: set[str]) -> None:
    await linked(
        wiki, "planner", "co_mention:1", "deterministic:city:austin", "deterministic:journal:trip", titles="AB"
    )
    await drop_link_kind(wiki.database, wiki.scope, kind)
    assert await reasons(wiki) == [left]


@pytest.mark.parametrize(
    "kind", ["planner", "text", "*", "", "deterministic:%", "deterministicx", "co_mention*x", "\0"]
)
async def test_reasons_that_are_not_kinds_cannot_be_dropped(wiki: Wiki, kind: str) -> None:
    await linked(wiki, "planner", "deterministic:city:austin", titles="AB")
    if kind == "deterministic:%":
        assert (await drop_link_kind(wiki.database, wiki.scope, kind)).links == 0
        return
    with pytest.raises(BadInput):
        await drop_link_kind(wiki.database, wiki.scope, kind)


async def test_only_admins_may_drop_a_link_kind(wiki: Wiki) -> None:
    with pytest.raises(Forbidden):
        await drop_link_kind(wiki.database, wiki.with_role(Role.SERVICE).scope, "co_mention:*", dry_run=True)
