"""Daily notes of a spring in Austin, which fill a page with things to do, and of a week in Lisbon."""

from datetime import UTC, datetime, timedelta
from typing import Any

from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
OUTDOORS, MUSIC, ART = ["outdoors", "kids"], ["music"], ["museum", "kids"]
ACTIVITIES = {
    "Barton Springs Pool": OUTDOORS, "Zilker Botanical Garden": OUTDOORS, "Mayfield Preserve": OUTDOORS,
    "Mount Bonnell": OUTDOORS, "Lady Bird Lake RequestTrace": OUTDOORS, "Bull Creek Park": OUTDOORS,
    "Pease Park": OUTDOORS, "Antones Nightclub": MUSIC, "Saxon Pub Stage": MUSIC, "Continental Hall": MUSIC,
    "Moody Theater": MUSIC, "Stubbs Amphitheater": MUSIC, "Mohawk Garden Stage": MUSIC, "Thinkery": ART,
    "Blanton Gallery": ART, "Umlauf Sculpture Garden": ART, "Bullock History Museum": ART,
}  # fmt: skip
RESTAURANTS = {"Franklin Barbecue": ["bbq", "food"], "Ramen Tatsuya": ["food"], "Veracruz Tacos": ["tacos", "food"]}


def note(day: int, text: str, **metadata: Any) -> SourceDraft:
    at = START + timedelta(days=day)
    return SourceDraft("daily_note", f"{at.date()}-{text[:60]}", text, captured_at=at, metadata=metadata)


def visit_notes() -> list[SourceDraft]:
    """Return a note for each place, with its tags; most places were visited twice."""
    notes = []
    for n, (place, tags) in enumerate(ACTIVITIES.items()):
        notes.append(
            note(2 * n, f"Morning at {place}. Everybody liked {place}.", place=place, city="Austin", tags=tags)
        )
        if n % 2:
            notes.append(note(2 * n + 30, f"Back at {place}.", place=place, city="Austin", tags=tags))
    for n, (place, tags) in enumerate(RESTAURANTS.items()):
        notes.append(note(3 * n + 1, f"Lunch at {place}.", place=place, city="Austin", tags=tags))
    coffee = "Coffee with Priya Raman, number"
    notes += [note(20 + n, f"{coffee} {n}.", person="Priya Raman", city="Austin") for n in range(2)]
    for n, place in enumerate(("Taberna dos Mercadores", "Castelo de São Jorge")):
        notes.append(note(70 + n, f"We saw {place}.", place=place, city="Lisbon", tags=["travel"]))
    return sorted(notes, key=lambda draft: (draft.captured_at, draft.ref))


async def retain_notes(wiki: Wiki, notes: list[SourceDraft]) -> None:
    for at in range(0, len(notes), 100):
        outcome = await retain_sources(wiki.database, wiki.scope, notes[at : at + 100])
        assert all(item.saved for item in outcome.items)
