"""Sources that the lines of a section name and that are no longer among its newest.

A writer that makes its lines anew has to be given them: only so it can tell a line of its own from one that somebody
wrote, and weigh it against newer ones. There are no more of them than a section has lines.
"""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from resolvers.transactions.writer import Writer

from .extraction.citing import marked_refs
from .source_texts import Facts
from .stored import COMPILING
from .work import Work

LINES_MAX = 60  # sources of one section that are asked for

Place = tuple[UUID, str]


async def with_standing(
    reader: Writer, work: Collection[Work], cited: Mapping[Place, Sequence[UUID]], facts: Facts
) -> dict[Place, Sequence[UUID]]:
    """What sections rest on, with the sources of their lines."""
    missing = [(place, ref) for place, ref in named(work) if not is_among(ref, cited.get(place, ()), facts)]
    if not missing:
        return dict(cited)
    rows = await reader.all(
        COMPILING["find_standing"],
        page_ids=[page_id for (page_id, _), _ in missing],
        slugs=[slug for (_, slug), _ in missing],
        refs=[ref for _, ref in missing],
    )
    found = dict(cited)
    for row in rows:
        place = row["page_id"], row["slug"]
        found[place] = [*dict.fromkeys((*found.get(place, ()), row["source_id"]))]
    return found


def named(work: Collection[Work]) -> list[tuple[Place, str]]:
    """Each section that is to be written, with each source that it names."""
    return [
        ((one.page.id, section.slug), ref)
        for one in work
        for section in one.page.sections
        if section.slug in one.sections and "[^" in section.body
        for ref in marked_refs(section.body)[:LINES_MAX]
    ]


def is_among(ref: str, ids: Collection[UUID], facts: Facts) -> bool:
    return any(id in facts and facts[id]["ref"] == ref for id in ids)
