"""The names of files are evidence: a short note is about what its file is named after."""

import random

import pytest

from tests.compiler.extraction.stories import compiled, files, page, refs, titles

STORED = "Put the keys into the drawer of the hall."
LINKING = "Ordered seeds. See [[Rota]] before you call."


def made(notes: dict[str, str], batch: int = 50) -> list[str]:
    return titles(compiled(files(notes), batch))


@pytest.mark.parametrize("batch", [1, 50])
def test_a_note_named_like_a_thing_earns_it_a_page_if_another_short_note_contains_it(batch: int) -> None:
    notes = {"ideas/seed swap.md": STORED, "2024-03-02.md": "We want to try a seed swap in May."}
    assert made(notes, batch) == ["Seed swap"]
    assert made(dict(reversed(notes.items())), batch) == ["Seed swap"]
    assert made({"ideas/seed swap.md": STORED, "2024-03-02.md": STORED}, batch) == []


@pytest.mark.parametrize("batch", [1, 50])
def test_a_note_named_like_a_thing_earns_it_a_page_if_a_short_note_links_it(batch: int) -> None:
    assert "Rota" in made({"Rota.md": STORED, "garden/2024-03-02.md": LINKING}, batch)
    assert "Rota" not in made({"2024-03-01.md": STORED, "garden/2024-03-02.md": LINKING}, batch)


def test_a_file_named_after_a_date_is_named_after_no_thing() -> None:
    notes = {"2024-03-02 seed swap.md": "It rained.", "2024-03-03.md": "We want to try a seed swap in May."}
    assert "Seed swap" not in made(notes)


def test_the_name_of_a_file_with_capitals_is_the_title_of_a_short_note() -> None:
    told = "It was slow again. {} days of waiting."
    notes = {f"{n} Falcon Harbour.md": told.format(n) for n in ("2024-03-02", "2024-04-02")}
    assert "Falcon Harbour" in made(notes | {"log.md": "We went to the Falcon Harbour."})


def test_files_in_any_order_and_batches_give_the_same_pages() -> None:
    notes = files(
        {
            "ideas/seed swap.md": STORED,
            "log/2024-03-02.md": "We want to try a seed swap in May.",
            "log/2024-03-04.md": LINKING,
            "Rota.md": "Mondays are free.",
            "log/2024-03-09.md": "The swap was called off.",
        }
    )
    expected = titles(compiled(notes))
    assert expected == ["Rota", "Seed swap"]
    for seed in range(4):
        for batch in (1, 2):
            assert titles(compiled(random.Random(seed).sample(notes, len(notes)), batch)) == expected


def test_the_page_cites_the_notes_that_contain_its_name() -> None:
    wiki = compiled(files({"ideas/seed swap.md": STORED, "log.md": "We want to try a seed swap in May."}))
    cited = {id for section in page(wiki, "Seed swap").sections.values() for id in section.source_ids}
    assert refs(wiki, cited) == ["log.md"]
