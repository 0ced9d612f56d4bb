"""The name of a file is evidence that a short note is about the thing that it names."""

import random

import pytest

from tests.compiler.extraction.stories import compiled, file_notes, page, refs, titles

STORED = "Put the keys into the drawer of the hall."
LINKING = "Ordered seeds. See [[Rota]] before you call."


def page_titles(notes: dict[str, str], batch: int = 50) -> list[str]:
    """Return the titles of the pages that files earn, given their texts by path."""
    return titles(compiled(file_notes(notes), batch))


@pytest.mark.parametrize("batch", [1, 50])
def test_a_file_name_earns_a_page_when_a_short_note_contains_it(batch: int) -> None:
    notes = {"ideas/seed swap.md": STORED, "2024-03-02.md": "We want to try a seed swap in May."}
    assert page_titles(notes, batch) == ["Seed swap"]
    assert page_titles(dict(reversed(notes.items())), batch) == ["Seed swap"]
    assert page_titles({"ideas/seed swap.md": STORED, "2024-03-02.md": STORED}, batch) == []


@pytest.mark.parametrize("batch", [1, 50])
def test_a_file_name_earns_a_page_when_a_short_note_links_it(batch: int) -> None:
    assert "Rota" in page_titles({"Rota.md": STORED, "garden/2024-03-02.md": LINKING}, batch)
    assert "Rota" not in page_titles({"2024-03-01.md": STORED, "garden/2024-03-02.md": LINKING}, batch)


def test_a_lowercase_file_name_with_a_date_earns_no_page() -> None:
    notes = {"2024-03-02 seed swap.md": "It rained.", "2024-03-03.md": "We want to try a seed swap in May."}
    assert "Seed swap" not in page_titles(notes)


def test_a_capitalised_file_name_with_a_date_counts_as_a_title() -> None:
    text = "It was slow again. {} days of waiting."
    notes = {f"{n} Falcon Harbour.md": text.format(n) for n in ("2024-03-02", "2024-04-02")}
    assert "Falcon Harbour" in page_titles(notes | {"log.md": "We went to the Falcon Harbour."})


def test_files_in_any_order_and_batches_give_the_same_pages() -> None:
    sources = file_notes(
        {
            "ideas/seed swap.md": STORED,
            "log/2024-03-02.md": "We want to try a seed swap in May.",
            "log/2024-03-04.md": LINKING,
            "Rota.md": "Mondays are free.",
            "log/2024-03-09.md": "The swap was called off.",
        }
    )
    expected = titles(compiled(sources))
    assert expected == ["Rota", "Seed swap"]
    for seed in range(4):
        for batch in (1, 2):
            assert titles(compiled(random.Random(seed).sample(sources, len(sources)), batch)) == expected


def test_a_page_cites_only_the_notes_that_contain_its_name() -> None:
    wiki = compiled(file_notes({"ideas/seed swap.md": STORED, "log.md": "We want to try a seed swap in May."}))
    cited = {id for section in page(wiki, "Seed swap").sections.values() for id in section.source_ids}
    assert refs(wiki, cited) == ["log.md"]
