"""Cities and mentions count sources, and the versions of a source count once."""

import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.compiler.scripted_compiler import compile_all, pages_by_title, retain_texts
from tests.wiki import Wiki


@pytest.mark.parametrize(
    "metadata", [{"place_city": "Toronto"}, {"place.city": "Toronto"}, {"place_address": "12345 Toronto, Canada"}]
)
async def test_the_city_is_read_from_each_form_of_metadata(wiki: Wiki, metadata: dict[str, str]) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto"))
    await retain_texts(wiki, "page entity Momofuku\nOne.", "to entity Momofuku\nTwo.", **metadata)
    (job,) = await compile_all(wiki)
    assert job["metrics"]["links_written_deterministic"] == 1
    assert "deterministic:city:toronto" in {reason for found in (await wiki.references()).values() for reason in found}


async def test_three_versions_of_a_source_count_once(wiki: Wiki) -> None:
    """A mention needs three sources; the versions of a source count once, in one batch and in several."""
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto"))
    rules = Compiler(ExtractivePlanner(), ExtractiveWriter())
    for compiled_between in (False, True):
        for version in range(3):
            about = f"Lunch on the Falcon, part {version} of {compiled_between}."
            draft = SourceDraft("daily_note", f"day-{compiled_between}", about)
            await retain_sources(wiki.database, wiki.scope, [draft])
            if compiled_between:
                await compile_all(wiki, rules)
        await compile_all(wiki, rules)
        assert "Falcon" not in await pages_by_title(wiki)
    mention = next(row for row in await wiki.rows("mentions") if row["alias"] == "falcon")
    assert (mention["mention_count"], mention["status"]) == (2, "open")
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("daily_note", "third", "We sailed the Falcon home.")])
    await compile_all(wiki, rules)
    assert "Falcon" in await pages_by_title(wiki)


async def test_two_versions_of_one_source_do_not_establish_a_city(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto"))
    await retain_texts(wiki, "page entity Momofuku\nOne.", city="Toronto")
    await compile_all(wiki)
    await retain_texts(wiki, "to entity Momofuku\nAnother version.", city="Toronto")
    await compile_all(wiki)
    assert len(await wiki.rows("section_sources", "source_id")) == 2, "both versions are cited"
    assert not [reason for found in (await wiki.references()).values() for reason in found if "city" in reason]
