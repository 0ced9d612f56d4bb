"""The kinds of pages for which topics have sections, and the kind of a page."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from content.names import normalise
from content.sentences import first_sentence

from ..planner import PageCard
from .naming import MetadataValue


class Kind(NamedTuple):
    """A section for a kind of page, and the words that show that a page is of this kind."""

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
HEADINGS = {kind.slug: kind.heading for kind in (*BY_WORDS, PEOPLE, PLACES, PROJECTS, DECISIONS, CONCEPTS, OTHERS)}
TAG_WEIGHT = 3


def kind_of(card: PageCard, metadata: Sequence[MetadataValue]) -> str:
    """Return the slug of the section that lists a page: by its type, by metadata of its sources, or by tags and
    words."""
    if card.type in BY_TYPE:
        return BY_TYPE[card.type].slug
    if card.type != "entity":
        return OTHERS.slug
    if any(not value.evidence.people.isdisjoint(card.aliases) for value in metadata):
        return PEOPLE.slug
    if any(not value.evidence.projects.isdisjoint(card.aliases) for value in metadata):
        return PROJECTS.slug
    is_place = any(not value.evidence.places.isdisjoint(card.aliases) for value in metadata)
    return by_words(card, metadata) or (PLACES if is_place else OTHERS).slug


def by_words(card: PageCard, metadata: Sequence[MetadataValue]) -> str | None:
    """Return the slug of the kind with the most matching tags and words, of equals the first; None if none matches."""
    counts: Counter[str] = Counter()
    for value in metadata:
        counts.update(dict.fromkeys(value.evidence.kinds, TAG_WEIGHT * value.sources))
    counts.update({normalise(tag): TAG_WEIGHT for tag in card.tags})
    counts.update(normalise(f"{card.title} {first_sentence(card.summary or '')}").split())
    scores = {kind.slug: sum(counts[word] for word in kind.words) for kind in BY_WORDS}
    best = max(scores, key=lambda slug: scores[slug])
    return best if scores[best] else None
