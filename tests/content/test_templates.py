"""Each page type has a template of sections."""

from content.names import section_slug
from content.templates import TEMPLATES
from db.tables import PAGE_TYPES


def test_every_type_of_page_has_a_template() -> None:
    assert set(TEMPLATES) == set(PAGE_TYPES)


def test_templates_have_the_published_sections() -> None:
    slugs = {type: [slug for slug, _ in sections] for type, sections in TEMPLATES.items()}
    assert slugs["entity"] == ["overview", "notes", "visits", "related"]
    assert slugs["topic"] == ["summary", "highlights", "related_entities", "recent"]
    assert slugs["decision"][:4] == ["context", "decision", "rationale", "consequences"]


def test_template_slugs_match_their_headings() -> None:
    for sections in TEMPLATES.values():
        assert [slug for slug, _ in sections] == [section_slug(heading) for _, heading in sections]
