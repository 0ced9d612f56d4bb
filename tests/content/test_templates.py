"""Every type of page has sections to begin with."""

from content.names import section_slug
from content.templates import TEMPLATES
from db.tables import PAGE_TYPES


def test_every_type_of_page_has_a_template() -> None:
    assert set(TEMPLATES) == set(PAGE_TYPES)


def test_the_published_defaults_are_kept() -> None:
    slugs = {type: [slug for slug, _ in sections] for type, sections in TEMPLATES.items()}
    assert slugs["entity"] == ["overview", "notes", "visits", "related"]
    assert slugs["topic"] == ["summary", "highlights", "related_entities", "recent"]
    assert slugs["decision"][:4] == ["context", "decision", "rationale", "consequences"]


def test_the_slugs_follow_from_the_headings() -> None:
    for sections in TEMPLATES.values():
        assert [slug for slug, _ in sections] == [section_slug(heading) for _, heading in sections]
