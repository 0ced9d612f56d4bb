"""The planner that asks a model. It shows the model new sources, and the pages and mentions that they may concern."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from content.names import normalise
from content.templates import TEMPLATES

from ..extraction.names.phrases import phrases
from ..extraction.readings import Reading
from ..planner import Knowledge, MentionCard, PageCard, Plan, SourceText
from .answers import PlanAnswer
from .fencing import Fence, one_line
from .plans import Shown, SourceGroup, SourcePart, groups, join_plans, plan_of
from .prompts import prompt
from .requests import Asker, ModelQuestion
from .writer import TITLE_MAX, with_header

PAGES_MAX, MENTIONS_MAX, PROPOSED_MAX = 80, 80, 60  # stored pages, mentions and proposed pages in one request
SUMMARY_MAX, ALIASES_MAX, METADATA_MAX = 200, 4, 300
USUAL = "\n".join(f"- {type}: {', '.join(slug for slug, _ in sections)}" for type, sections in TEMPLATES.items())

PLANNING = ModelQuestion("planner", f"{prompt('planning')}\n# Usual sections\n\n{USUAL}\n", PlanAnswer)


class ModelPlanner:
    """A `Planner` for one job. It stores the plan of each group of sources, so that no group is planned twice."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.planned: dict[tuple[UUID, ...], Plan] = {}
        """The plan of each group of sources."""

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        """Plan the first group of sources, and further groups until the budget is used up.

        Raises Unavailable and ModelRefused.
        """
        plans: list[Plan] = []
        read = 0
        for group in groups(sources):
            key = tuple(source.id for source in group.sources)
            if key not in self.planned:
                if plans and await self.asker.meter.stop():
                    break
                self.planned[key] = await self.plan_group(group, knowledge, plans)
            plans.append(self.planned[key])
            read += len(group.sources)
        return join_plans(plans, None if read == len(sources) else read)

    async def plan_group(self, group: SourceGroup, knowledge: Knowledge, before: Sequence[Plan]) -> Plan:
        """Plan a group in one request after the other. Each request shows the pages that earlier ones proposed."""
        readings = {source.id: Reading(source) for source in group.sources}
        plans: list[Plan] = []
        for parts in group.requests:
            known = await look_up([readings[part.source.id] for part in parts], knowledge)
            shown = Shown({f"s{n}": readings[part.source.id] for n, part in enumerate(parts, start=1)}, *known)
            text = text_of(parts, shown, proposed_pages([*before, *plans]))
            plans.append(plan_of(await self.asker.ask(PLANNING, text, complain_once(shown)), shown))
        return join_plans(plans)


def complain_once(shown: Shown) -> Callable[[PlanAnswer], str | None]:
    """Return a function that says once that no proposal of an answer is valid.

    It accepts the next answer, whose invalid parts are left out, so such a model blocks no wiki.
    """
    complaints = iter(["No part of this plan is valid: cite the handles of shown sources (s1) in each section."])

    def complaint(answer: PlanAnswer) -> str | None:
        plan = plan_of(answer, shown)
        is_valid = plan.new_pages or plan.updates or plan.held or plan.links
        return None if is_valid or not any(plan.dropped.values()) else next(complaints, None)

    return complaint


async def look_up(
    readings: Sequence[Reading], knowledge: Knowledge
) -> tuple[Mapping[str, PageCard], Mapping[str, MentionCard]]:
    """Return the pages and open mentions that these sources name, by handle, the most named first."""
    said = Counter(
        name for reading in readings for name in phrases(reading) | reading.sightings.keys() | metadata_names(reading)
    )
    found = await knowledge.pages(sorted(said))
    counts: Counter[UUID] = Counter()
    cards: dict[UUID, PageCard] = {}
    for name, pages in found.items():
        for card in pages:
            if not card.is_archived:
                cards[card.id] = card
                counts[card.id] += said[name]
    mentions = await knowledge.mentions(sorted({name for reading in readings for name in reading.sightings}))
    held = sorted(mentions.values(), key=lambda card: (-len(card.source_ids), card.alias))
    return (
        {f"p{n}": cards[id] for n, (id, _) in enumerate(counts.most_common(PAGES_MAX), start=1)},
        {
            f"m{n}": card
            for n, card in enumerate([card for card in held if card.status == "open"][:MENTIONS_MAX], start=1)
        },
    )


def metadata_names(reading: Reading) -> set[str]:
    """Return the normalised names in the metadata."""
    return {name for names in reading.metadata.values() for name in names}


def proposed_pages(plans: Iterable[Plan]) -> list[str]:
    """Return a line for each of the last pages that were proposed for this batch before."""
    return [f"{page.type}: {one_line(page.title, TITLE_MAX)}" for plan in plans for page in plan.new_pages][
        -PROPOSED_MAX:
    ]


def text_of(parts: Sequence[SourcePart], shown: Shown, before: Sequence[str]) -> str:
    """Return the text of the request: pages, mentions, the pages that were proposed before, and sources."""
    fence = Fence()
    pages = [page_line(handle, card) for handle, card in shown.pages.items()]
    held = [mention_line(handle, card) for handle, card in shown.mentions.items()]
    return "\n\n".join(
        (
            fence.around("pages that are there", "\n".join(pages) or "none of these names"),
            fence.around("mentions", "\n".join(held) or "none of these"),
            *(
                [fence.around("pages proposed before: propose one again to add to it", "\n".join(before))]
                if before
                else []
            ),
            *(fence.around(f"source s{n}", part_text(part)) for n, part in enumerate(parts, start=1)),
            "Say what the wiki should hold because of these sources.",
        )
    )


def page_line(handle: str, card: PageCard) -> str:
    """Return the line that shows a page: `p1 | entity | Taberna | also: … | sections: … | summary`"""
    others = sorted(card.aliases - {normalise(card.title)})[:ALIASES_MAX]
    facts = (
        handle,
        card.type,
        one_line(card.title, TITLE_MAX),
        f"also: {', '.join(one_line(name, TITLE_MAX) for name in others)}" if others else "",
        f"sections: {', '.join(card.section_slugs[:12])}" if card.section_slugs else "",
        one_line(card.summary or "", SUMMARY_MAX),
    )
    return " | ".join(filter(None, facts))


def mention_line(handle: str, card: MentionCard) -> str:
    return f"{handle} | {one_line(card.name, TITLE_MAX)} | said by {len(card.source_ids)} earlier sources"


def part_text(part: SourcePart) -> str:
    metadata = one_line(
        ", ".join(f"{name}: {value}" for name, value in sorted(part.source.metadata.items())), METADATA_MAX
    )
    place = f"part {part.number} of {part.of}\n" if part.of > 1 else ""
    return f"{metadata}\n{place}{with_header(part.source, part.text)}".lstrip()
