"""Searching pages and passages of sources together, in several wikis at once."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.ids import new_id
from db.scope import Role
from resolvers.auth.owners import Grant, grant, set_owner_settings
from resolvers.auth.wiki_settings import WikiSettings
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search.request import Filter, SearchHit
from resolvers.search.search_all import Hit, SearchAllRequest, SearchAllResult, SpaceResult, rank_hits, search_all
from resolvers.search.source_search import PassageHit, SourceFilter
from resolvers.search.spaces import SPACES_MAX, Space
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki

LONG = "The kiln of the north yard cracked during the frost and was replaced by an electric one"
FILLER = [
    "Mara waters the ferns on the balcony whenever the forecast says that no rain will come this week",
    "The bakery down the road sells rye bread on Tuesdays and something with poppy seeds on other days",
    "A ferry crosses the sound every hour and carries bicycles for free outside of the holiday season",
    "The choir rehearses in the old school because the roof of the church is still being repaired there",
]
QUESTIONS = ["kiln cracked frost", "electric kiln", "why was the kiln replaced", "north yard", "frost"]


async def fill(wiki: Wiki, texts: list[str], *, pages: bool = True, sources: bool = True) -> None:
    for n, text in enumerate(texts):
        if pages:
            await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Entry {n}", body=text))
        if sources:
            draft = SourceDraft("document", f"doc-{n}", text, captured_at=datetime(2026, 1, n + 1, tzinfo=UTC))
            await retain_sources(wiki.database, wiki.scope, [draft])


async def found(wiki: Wiki, text: str, **given: Any) -> SearchAllResult:
    return await search_all(wiki.database, wiki.scope, SearchAllRequest(text, **given))


@pytest.fixture
async def member(wiki: Wiki) -> Wiki:
    return wiki.with_role(Role.MEMBER)


async def space(wiki: Wiki, slug: str, *, readable: bool, kind: str = "shared") -> Wiki:
    other = await wiki.neighbour()
    await wiki.connection.execute(
        "UPDATE owners SET slug = $2, kind = $3 WHERE id = $1", other.scope.owner_id, slug, kind
    )
    if readable:
        owners = {"owner_id": other.scope.owner_id, "grantee_id": wiki.scope.owner_id}
        await grant(wiki.database, wiki.scope.tenant_id, **owners, role=Grant.READER)
    return other


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_text_scores_about_the_same_as_a_page_and_as_a_passage(member: Wiki, question: str) -> None:
    await fill(member, [LONG, *FILLER])
    result = await found(member, question)
    raw = {hit.is_page: hit.raw_score for hit in reversed(result.hits)}
    assert raw[True] == pytest.approx(raw[False], rel=0.25), raw


async def test_passages_rank_before_pages_unless_the_score_boost_is_raised(member: Wiki) -> None:
    await fill(member, [LONG, *FILLER])
    first, second = (await found(member, "kiln cracked frost")).hits[:2]
    assert (first.is_page, second.is_page) == (False, True)
    assert second.score == pytest.approx(0.9 * second.raw_score)
    assert first.score == first.raw_score
    await set_owner_settings(
        member.database, member.scope.tenant_id, member.scope.owner_id, WikiSettings(score_boost=2.0)
    )
    assert (await found(member, "kiln cracked frost")).hits[0].is_page
    await set_owner_settings(
        member.database, member.scope.tenant_id, member.scope.owner_id, WikiSettings(score_boost=0)
    )
    hits = (await found(member, "kiln cracked frost")).hits
    assert [hit.score for hit in hits if hit.is_page] == [0.0]
    assert hits[-1].is_page


@given(
    st.lists(st.sampled_from([0.0, 0.4, 0.5, 1.0]), max_size=8),
    st.lists(st.sampled_from([0.0, 0.4, 0.5, 1.0]), max_size=8),
    st.sampled_from([0.0, 0.9, 1.0, 2.0]),
)
def test_hits_are_ordered_by_score_and_passages_win_ties(
    pages: list[float], passages: list[float], boost: float
) -> None:
    where = Space(new_id(), "team", boost)

    class Scored(SpaceResult):
        @property
        def hits(self) -> Any:
            for raw in sorted(pages, reverse=True):
                yield Hit(SearchHit(new_id(), raw, ""), where, raw, raw * boost)
            for raw in sorted(passages, reverse=True):
                yield Hit(PassageHit(new_id(), 0, 1, raw, "", ""), where, raw, raw)

    order = [(-hit.score, hit.is_page) for hit in rank_hits([Scored(where, None, None)])]
    assert order == sorted(order)
    assert len(order) == len(pages) + len(passages)


async def test_paging_returns_every_hit_once_and_in_order(member: Wiki) -> None:
    texts = [f"{LONG}, said the neighbour number {n} while the ferry left" for n in range(12)]
    await fill(member, texts)
    whole = await found(member, "kiln frost", first=50)
    assert len(whole.hits) == 24
    walked: list[Hit] = []
    after = None
    while True:
        part = await found(member, "kiln frost", first=5, after=after)
        walked += part.hits
        if not part.has_next_page:
            break
        after = part.cursors[-1]
    assert [hit.mark for hit in walked] == [hit.mark for hit in whole.hits]


async def test_cursors_of_another_search_are_refused(member: Wiki) -> None:
    await fill(member, [LONG, *FILLER])
    after = (await found(member, "kiln", first=1)).cursors[0]
    for text, options in (
        ("frost", {}),
        ("kiln", {"kinds": ("pages",)}),
        ("kiln", {"filter": Filter(types=("topic",))}),
    ):
        with pytest.raises(BadInput, match="another search"):
            await found(member, text, after=after, **options)
    for nonsense in ("x", "eyJ9", after[:-4] + "zzzz", "é", "W10=", "\x00"):
        with pytest.raises(BadInput):
            await found(member, "kiln", after=nonsense)


async def test_a_filter_of_pages_or_sources_leaves_out_the_other_kind(member: Wiki) -> None:
    await fill(member, [LONG])
    pages, sources = Filter(types=("topic",)), SourceFilter(kinds=("document",))
    assert {hit.is_page for hit in (await found(member, "kiln", filter=pages)).hits} == {True}
    assert {hit.is_page for hit in (await found(member, "kiln", source_filter=sources)).hits} == {False}
    both = await found(member, "kiln", filter=pages, source_filter=sources)
    assert {hit.is_page for hit in both.hits} == {True, False}
    for operator in ("type:topic kiln", "-type:entity kiln", "kiln in:title entry", "status:any kiln"):
        assert {hit.is_page for hit in (await found(member, operator)).hits} <= {True}, operator
    for kinds, options, field in (
        (("sources",), {"filter": pages}, "filter"),
        (("pages",), {"source_filter": sources}, "sourceFilter"),
        ((), {}, "in"),
    ):
        with pytest.raises(BadInput) as refused:
            await found(member, "kiln", kinds=kinds, **options)
        assert refused.value.field == field


async def test_shared_spaces_are_searched_along_with_the_own_wiki(member: Wiki) -> None:
    team = await space(member, "team", readable=True)
    private = await space(member, "friend", readable=True, kind="user")
    await space(member, "closed", readable=False)
    for wiki in (member, team, private):
        await fill(wiki, [LONG])
    result = await found(member, "kiln frost")
    assert [searched.slug for searched in result.spaces][1:] == ["team"]
    assert {hit.space.id for hit in result.hits} == {member.scope.owner_id, team.scope.owner_id}
    named = await found(member, "kiln frost", spaces=("friend", "team"))
    assert {hit.space.slug for hit in named.hits} == {"friend", "team"}
    assert {hit.space.slug for hit in (await found(member, "kiln owner:team")).hits} == {"team"}
    await set_owner_settings(
        member.database, member.scope.tenant_id, team.scope.owner_id, WikiSettings(score_boost=3.0)
    )
    best = (await found(member, "kiln frost")).hits[0]
    assert (best.space.slug, best.is_page) == ("team", True)


@pytest.mark.parametrize(
    "name", ["closed", "moon", "", "A B", "\x00", "x" * 5_000, "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f"]
)
async def test_an_unreadable_space_is_not_found(member: Wiki, name: str) -> None:
    closed = await space(member, "closed", readable=False)
    await fill(closed, [LONG])
    with pytest.raises(NotFound, match="There is no space"):
        await found(member, "kiln", spaces=(name,))
    with pytest.raises(NotFound, match="There is no space"):
        await found(member, "kiln", spaces=(str(closed.scope.owner_id),))
    assert (await found(member, "kiln owner:closed")).hits == ()


async def test_no_or_too_many_spaces_are_refused(member: Wiki) -> None:
    for names in ((), ("team",) * (SPACES_MAX + 1)):
        with pytest.raises(BadInput) as refused:
            await found(member, "kiln", spaces=names)
        assert refused.value.field == "spaces"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("", False), (" ", False), ("?!", False), ("-kiln", False), ('"', False), ("\ud800 kiln", True),
        ("x" * 20_000, False), ("kiln " * 2_000, True), ("kiln " + "?" * 5_000, True),
    ],
)  # fmt: skip
async def test_odd_search_texts_find_what_their_words_find(member: Wiki, text: str, is_found: bool) -> None:
    await fill(member, [LONG])
    assert [hit.is_page for hit in (await found(member, text)).hits] == [False, True] * is_found
