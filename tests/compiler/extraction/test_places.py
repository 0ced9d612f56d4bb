"""Streets, squares and schools are named with the word in small letters before their name."""

import random

import pytest

from compiler.extraction.names.capitals import runs
from tests.compiler.extraction.stories import compiled, notes, titles


def names(sentence: str, language: str) -> list[str]:
    return [run.name for run in runs(sentence, language)]


@pytest.mark.parametrize(
    ("sentence", "language", "name"),
    [
        ("On a garé le vélo rue des Lavandières, comme hier.", "fr", "rue des Lavandières"),
        ("Les enfants de l'école des Tilleuls sont venus.", "fr", "école des Tilleuls"),
        ("Le marché est place d'Armes cette semaine.", "fr", "place d'Armes"),
        ("La pharmacie de la rue de l'Abbé Grégoire est fermée.", "fr", "rue de l'Abbé Grégoire"),
        ("Quedamos en la plaza de las Flores a las ocho.", "es", "plaza de las Flores"),
        ("O café novo fica no largo do Carmo.", "pt", "largo do Carmo"),
        ("Abbiamo mangiato in via della Pergola ieri.", "it", "via della Pergola"),
    ],
)
def test_a_street_is_named_with_its_kind(sentence: str, language: str, name: str) -> None:
    assert names(sentence, language)[-1] == name


@pytest.mark.parametrize(
    ("sentence", "language", "name"),
    [
        ("On a parlé des Lavandières, et la rue est fermée.", "fr", "Lavandières"),
        ("La rue, des Tilleuls jusqu'ici, est barrée.", "fr", "Tilleuls"),
        ("Elle habite rue Pasteur depuis mai.", "fr", "Pasteur"),
        ("Das liegt am place des Vosges.", "de", "Vosges"),
        ("We met at the place de Clercq runs.", "en", "Clercq"),
    ],
)
def test_other_words_before_a_name_do_not_belong_to_it(sentence: str, language: str, name: str) -> None:
    assert names(sentence, language)[-1] == name


@pytest.mark.parametrize("batch", [1, 50])
def test_a_street_earns_one_page_under_its_whole_name(batch: int) -> None:
    texts = [
        "Ce matin on a posé des barrières rue des Lavandières, et personne ne savait pourquoi.",
        "Les travaux de la rue des Lavandières durent encore un mois, dit la voisine.",
        "Il y a de nouveau des places rue des Lavandières, et le portail est ouvert.",
    ]
    random.Random(3).shuffle(texts)
    wiki = compiled(notes(*texts), batch)
    assert titles(wiki) == ["Rue des Lavandières"]
