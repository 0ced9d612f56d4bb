"""The files of the sample wiki are consistent with each other."""

import re
from collections import Counter
from datetime import datetime, timedelta

import pytest

from db.tables import PAGE_TYPES, SOURCE_KINDS
from tests.app.sample_wiki import LINK_FORMS, SAMPLE, File, Link, Owner, ancestors, cited_lines, read_owners

TEMPLATES = {
    "entity": ["Overview", "Notes", "Visits", "Related"],
    "topic": ["Summary", "Highlights", "Related entities", "Recent"],
    "decision": ["Context", "Decision", "Rationale", "Consequences"],
}
BROKEN_ON_PURPOSE = {("mara", "porto"), ("roastery", "grinder-guide")}
OWNERS = read_owners()
OWNER_OF = {owner.slug: owner for owner in OWNERS}
PAGES = [(owner, page) for owner in OWNERS for page in owner.pages.values()]
SOURCES = [(owner, source) for owner in OWNERS for source in owner.sources.values()]

each_owner = pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.slug)
each_page = pytest.mark.parametrize(("owner", "page"), PAGES, ids=[str(page) for _, page in PAGES])
each_source = pytest.mark.parametrize(("owner", "source"), SOURCES, ids=[str(source) for _, source in SOURCES])


def target_of(owner: Owner, link: Link) -> File | None:
    return OWNER_OF[link.space or owner.slug].pages.get(link.slug)


def significant_words(text: str) -> set[str]:
    """Return the numbers and the first five letters of each long word of a text."""
    return {word[:5] for word in re.findall(r"\w+", text.casefold()) if len(word) > 4 or word.isdigit()}


def test_two_tenants_hold_a_user_a_shared_space_and_an_agent() -> None:
    assert {(owner.tenant, owner.slug, owner.kind) for owner in OWNERS} == {
        ("harbour-coffee", "mara", "user"),
        ("harbour-coffee", "roastery", "shared"),
        ("north-field", "ada", "agent"),
    }
    assert OWNER_OF["roastery"].members == [{"owner": "mara", "role": "member"}]


def test_every_file_of_the_sample_belongs_to_an_owner() -> None:
    read = {file.path for _, file in [*PAGES, *SOURCES]} | {owner.folder / "mentions.yaml" for owner in OWNERS}
    assert {path for path in SAMPLE.rglob("*") if path.is_file()} == read | {SAMPLE / "sample.yaml"}


def test_all_types_of_page_and_all_kinds_of_source_occur() -> None:
    assert {page.front["type"] for _, page in PAGES} == set(PAGE_TYPES)
    assert {source.front["kind"] for _, source in SOURCES} == set(SOURCE_KINDS) - {"run"}, "its people run no agents"


@each_source
def test_each_source_has_a_body_a_title_and_a_capture_time(owner: Owner, source: File) -> None:
    captured = datetime.fromisoformat(source.front["captured_at"])
    assert captured.tzinfo is not None
    assert captured.year == 2026
    assert source.front["title"]
    assert isinstance(source.front["metadata"]["tags"], list)
    assert source.lines[0].strip(), "lines are counted from the first line of the body"


@each_owner
def test_sources_of_an_owner_are_from_six_months_or_more(owner: Owner) -> None:
    assert len({source.front["captured_at"][:7] for source in owner.sources.values()}) >= 6


@each_owner
def test_refs_and_slugs_are_unique_and_match_page_file_names(owner: Owner) -> None:
    assert len(owner.sources) == len(list((owner.folder / "sources").iterdir()))
    assert len(owner.pages) == len(list((owner.folder / "pages").iterdir()))
    for page in owner.pages.values():
        assert page.path.stem in {page.front["slug"], *page.front["aliases"]}


@each_owner
def test_titles_and_aliases_are_unique_within_a_type(owner: Owner) -> None:
    names = Counter(
        (page.front["type"], name.casefold())
        for page in owner.pages.values()
        for name in {page.front["title"], *page.front["aliases"]}
    )
    assert [name for name, count in names.items() if count > 1] == []


@each_page
def test_each_page_has_a_summary_tags_and_100_to_400_words(owner: Owner, page: File) -> None:
    assert page.front["type"] in PAGE_TYPES
    assert re.fullmatch(r"[^\W_A-Z]+(-[^\W_A-Z]+)*", page.front["slug"])
    assert 20 <= len(page.front["summary"]) <= 160
    assert page.front["summary"].endswith(".")
    assert page.front["tags"]
    assert 100 <= len(page.body.split()) <= 400
    assert all(page.sections.values()), "a section without text"


@each_page
def test_a_page_follows_the_template_of_its_type(owner: Owner, page: File) -> None:
    template = TEMPLATES.get(page.front["type"], [])
    assert [heading for heading in page.sections if heading in template] == template


@each_page
def test_parents_and_related_pages_exist(owner: Owner, page: File) -> None:
    list(ancestors(owner, page))
    assert set(page.front["related"]) <= owner.pages.keys() - {page.front["slug"]}


@each_page
def test_cited_lines_exist_and_share_words_with_their_section(owner: Owner, page: File) -> None:
    for citation in page.front.get("sources", []):
        section = page.section_slugs[citation["section"]]
        evidence = "\n".join(cited_lines(owner.sources[citation["ref"]], citation["lines"]))
        shared = significant_words(evidence) & significant_words(section)
        assert len(shared) >= 2, f"{citation} shares {shared} with its section"


@each_page
def test_typed_links_and_heading_links_match_their_target(owner: Owner, page: File) -> None:
    for link in page.links:
        target = target_of(owner, link)
        if link.type:
            assert target is not None
            assert target.front["type"] == link.type
        if link.heading:
            assert target is not None
            assert link.heading in target.section_slugs


@each_owner
def test_every_source_is_cited_somewhere(owner: Owner) -> None:
    cited = {citation["ref"] for page in owner.pages.values() for citation in page.front.get("sources", [])}
    assert cited == owner.sources.keys()


def test_only_two_links_are_broken() -> None:
    broken = [(owner.slug, link.slug) for owner, page in PAGES for link in page.links if not target_of(owner, link)]
    assert sorted(broken) == sorted(BROKEN_ON_PURPOSE)


def test_every_form_of_link_occurs() -> None:
    links = [link for _, page in PAGES for link in page.links]
    assert {link.form for link in links} == LINK_FORMS.keys()
    assert {link.space for link in links} == {None, "roastery"}
    assert {link.form for link in links if link.heading} == {"markdown", "path"}


@each_owner
def test_only_members_link_into_a_shared_space(owner: Owner) -> None:
    for space in {link.space for page in owner.pages.values() for link in page.links if link.space}:
        assert OWNER_OF[space].tenant == owner.tenant
        assert owner.slug in {member["owner"] for member in OWNER_OF[space].members}


def test_brackets_in_code_are_not_links() -> None:
    style = OWNER_OF["roastery"].pages["writing-pages"]
    assert "[[not a link]]" in style.body
    assert "not a link" not in {link.slug for link in style.links}


@each_owner
def test_each_owner_has_a_page_that_eight_pages_link_to(owner: Owner) -> None:
    inbound = Counter(slug for page in owner.pages.values() for slug in {link.slug for link in page.links})
    assert max(inbound.values()) >= 8


@each_owner
def test_the_hierarchy_is_three_levels_deep(owner: Owner) -> None:
    assert max(len(list(ancestors(owner, page))) for page in owner.pages.values()) >= 2


def test_the_austin_pages_have_aliases_and_a_promoted_section() -> None:
    pages = OWNER_OF["mara"].pages
    assert {"Austin TX", "ATX"} <= set(pages["austin-texas"].front["aliases"])
    assert pages["austin-activities"].front["parent"] == "entity/austin-texas"
    assert pages["austin-activities"].front["promoted_from"] in pages["austin-texas"].section_slugs
    assert "See: [Austin Activities](/wiki/topic/austin-activities)" in pages["austin-texas"].sections["Activities"]
    assert {"lisbon", "taberna-dos-mercadores", "momofuku-daisho"} <= pages.keys()


def test_some_titles_are_not_ascii() -> None:
    titles = {page.front["title"] for _, page in PAGES}
    assert {"Momofuku Daishō", "Café Aurora", "Inês Duarte", "喫茶店"} <= titles


def test_exactly_one_page_is_archived() -> None:
    assert [page.front["slug"] for _, page in PAGES if page.front.get("status") == "archived"] == ["winter-blend-2025"]


@pytest.mark.parametrize("slug", [page.front["slug"] for _, page in PAGES if "price_eur_per_kg" in page.front])
def test_a_price_is_the_same_in_its_page_the_price_list_and_the_source(slug: str) -> None:
    roastery = OWNER_OF["roastery"]
    product = roastery.pages[slug]
    price = f"{product.front['price_eur_per_kg']:.2f}"
    assert price in product.sections["Price"]
    assert f"| [[{slug}]] | {price} |" in roastery.pages["pricing-policy"].sections["List"]
    assert f"{product.front['title']} {price}" in roastery.sources["prices-2026-02"].lines


@each_owner
def test_mentions_are_quoted_verbatim_and_have_no_page(owner: Owner) -> None:
    names = {name.casefold() for page in owner.pages.values() for name in [page.front["title"], *page.front["aliases"]]}
    for mention in owner.mentions:
        assert mention["name"].casefold() not in names
        assert mention["suggested_type"] in PAGE_TYPES
        assert len({sighting["ref"] for sighting in mention["sightings"]}) == len(mention["sightings"])
        for sighting in mention["sightings"]:
            assert sighting["quote"] in owner.sources[sighting["ref"]].body
            assert mention["name"] in sighting["quote"]


def test_two_mentions_have_three_sightings_within_thirty_days() -> None:
    mara = OWNER_OF["mara"]
    earned = set()
    for mention in mara.mentions:
        seen = sorted(datetime.fromisoformat(mara.sources[s["ref"]].front["captured_at"]) for s in mention["sightings"])
        if any(third - first <= timedelta(days=30) for first, third in zip(seen, seen[2:], strict=False)):
            earned.add(mention["name"])
    assert earned == {"Chef João", "Dez Okafor"}
