"""Topics for cities and journals that three pages belong to, and that nobody has made yet."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from uuid import UUID

from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..write.page_changes import PageChange
from ..write.store import promote
from .naming import OWN_PAGES
from .stored import Placement
from .storing import keep
from .topics import claim

PAGES_LEAST = 3
NOTE = "Several pages belong here"


async def make_parents(writer: Writer, unknown: Sequence[Placement], metrics: Metrics) -> dict[str, UUID]:
    """By alias: the topics of these names, where enough pages wait for them."""
    earned = titles(unknown)
    claims = await claim(writer, list(earned.values())) if earned else {}
    made = {alias: claims[title] for alias, title in earned.items() if title in claims}
    await keep(writer, [(one.before, one.page) for one in made.values()], NOTE)
    metrics.add("pages_created", sum(one.before is None for one in made.values()))
    changes = [PageChange(one.before, one.page, (), one.promotes, {}) for one in made.values()]
    await promote(writer, changes, metrics)
    return {alias: one.page.id for alias, one in made.items()}


def titles(unknown: Sequence[Placement]) -> dict[str, str]:
    """Alias and title of what the sources of enough pages name; the form that most of them write."""
    pages: dict[str, dict[UUID, str]] = defaultdict(dict)
    for one in unknown:
        if any(basis in OWN_PAGES for basis in one.bases):
            pages[one.alias][one.page_id] = one.name
    return {
        alias: commonest(list(names.values())) for alias, names in sorted(pages.items()) if len(names) >= PAGES_LEAST
    }


def commonest(names: Sequence[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))
