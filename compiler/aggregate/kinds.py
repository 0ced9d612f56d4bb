"""The kind of thing that a page is, as far as the topic that lists it has a section for such things."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from content.names import normalise
from content.sentences import first_sentence

from ..planner import PageCard
from .naming import MetadataValue


class Kind(NamedTuple):
    """A section, and the words that lead a page into it."""

    slug: str
    heading: str
    words: frozenset[str] = frozenset()


def kind(slug: str, heading: str, words: str = "") -> Kind:
    return Kind(slug, heading, frozenset(map(normalise, words.split())))


RESTAURANTS = kind(
    "restaurants", "Restaurants",
    "restaurant restaurants food bbq barbecue cafe café cafes coffee bakery bar bars pub diner tavern brunch breakfast "
    "lunch dinner tacos pizza essen kaffee bäckerei gasthaus kneipe restaurante restaurantes comida padaria taberna "
    "tasca boulangerie bistro brasserie ristorante trattoria 餐厅 美食 咖啡 咖啡馆 レストラン 食堂 カフェ 식당 카페",
)  # fmt: skip
ACTIVITIES = kind(
    "activities", "Activities",
    "activity activities kids outdoors outdoor swimming swim pool hiking hike trace park parks garden museum museums "
    "gallery music concert concerts festival festivals theatre theater cinema sport sports playground zoo beach tour "
    "tours market ausflug ausflüge wandern schwimmen konzert musik atividade atividades actividad actividades praia "
    "playa parque museu museo musée activité activités plage 活动 公园 博物馆 公園 博物館 美術館 공원 박물관",
)  # fmt: skip
STAYS = kind(
    "stays",
    "Stays",
    "hotel hotels hostel hostels lodging stay stays guesthouse unterkunft hospedagem 酒店 ホテル",
)
SHOPS = kind(
    "shops", "Shops", "shop shops store stores shopping bookstore bookshop laden buchladen loja tienda librairie 书店"
)
PEOPLE = kind("people", "People")
PLACES = kind("places", "Places")
PROJECTS = kind("projects", "Projects")
DECISIONS = kind("decisions", "Decisions")
CONCEPTS = kind("concepts", "Concepts")
OTHERS = kind("others", "Others")

BY_WORDS = (RESTAURANTS, ACTIVITIES, STAYS, SHOPS)
BY_TYPE = {"decision": DECISIONS, "project": PROJECTS, "concept": CONCEPTS, "theme": CONCEPTS, "standard": CONCEPTS}
HEADINGS = {one.slug: one.heading for one in (*BY_WORDS, PEOPLE, PLACES, PROJECTS, DECISIONS, CONCEPTS, OTHERS)}
TAG_WEIGHT = 3


def kind_of(card: PageCard, said: Sequence[MetadataValue]) -> str:
    """Return the slug of the section: for people and projects by the metadata, else by tags, then by words."""
    if card.type in BY_TYPE:
        return BY_TYPE[card.type].slug
    if card.type != "entity":
        return OTHERS.slug
    if any(not one.told.people.isdisjoint(card.aliases) for one in said):
        return PEOPLE.slug
    if any(not one.told.projects.isdisjoint(card.aliases) for one in said):
        return PROJECTS.slug
    is_place = any(not one.told.places.isdisjoint(card.aliases) for one in said)
    return by_words(card, said) or (PLACES if is_place else OTHERS).slug


def by_words(card: PageCard, said: Sequence[MetadataValue]) -> str | None:
    """Return the kind that most tags and words speak for; of equals the first."""
    counts: Counter[str] = Counter()
    for one in said:
        counts.update(dict.fromkeys(one.told.kinds, TAG_WEIGHT * one.sources))
    counts.update({normalise(tag): TAG_WEIGHT for tag in card.tags})
    counts.update(normalise(f"{card.title} {first_sentence(card.summary or '')}").split())
    scores = {one.slug: sum(counts[word] for word in one.words) for one in BY_WORDS}
    best = max(scores, key=lambda slug: scores[slug])
    return best if scores[best] else None
