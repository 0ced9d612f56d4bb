"""What of a plan can stand: the rest is dropped, with a reason that is logged and counted."""

import logging
from collections.abc import Collection, Iterator
from dataclasses import replace
from uuid import UUID

from content.limits import HEADING, QUOTE
from content.names import normalise
from content.slugs import NoSlug, section_slug
from db.tables import PAGE_TYPES
from resolvers import validation
from resolvers.errors import BadInput

from .matching import Wanted, wanted
from .metrics import Metrics
from .planner import HeldName, LinkProposal, NewPage, PageUpdate, Plan, SectionProposal

log = logging.getLogger(__name__)


class Guard:
    """Judges the parts of one plan by what the wiki has."""

    def __init__(self, source_ids: Collection[UUID], page_ids: Collection[UUID], metrics: Metrics) -> None:
        self.source_ids, self.page_ids, self.metrics = source_ids, page_ids, metrics

    def drop(self, reason: str, what: object) -> None:
        log.info("Dropped from a plan (%s): %.200s", reason, what)
        self.metrics.drop(reason)

    def new_pages(self, plan: Plan) -> list[Wanted]:
        return [wanted(page) for given in plan.new_pages if (page := self.new_page(given))]

    def new_page(self, page: NewPage) -> NewPage | None:
        if page.type not in PAGE_TYPES:
            self.drop("unknown_type", page.type)
            return None
        try:
            clean = replace(
                page,
                title=validation.title(page.title),
                summary=self.summary(page.summary),
                sections=tuple(self.sections(page.sections)),
                aliases=tuple(self.aliases(page.aliases)),
                tags=tuple(self.tags(page.tags)),
                promotes=tuple(alias for name in page.promotes if (alias := normalise(name))),
            )
            wanted(clean)
        except (BadInput, NoSlug):
            self.drop("blank_slug", page.title)
            return None
        return clean if clean.sections else None

    def updates(self, plan: Plan) -> Iterator[PageUpdate]:
        for update in plan.updates:
            if update.page_id not in self.page_ids:
                self.drop("unknown_page", update.page_id)
                continue
            sections = tuple(self.sections(update.sections))
            if sections or not update.sections:
                yield replace(
                    update,
                    summary=self.summary(update.summary),
                    sections=sections,
                    aliases=tuple(self.aliases(update.aliases)),
                    tags=tuple(self.tags(update.tags)),
                )

    def sections(self, sections: Collection[SectionProposal]) -> Iterator[SectionProposal]:
        for section in sections:
            if not section.slug.strip():
                self.drop("blank_section", section.heading)
                continue
            known = tuple(self.known(section.source_ids))
            if not known:
                self.drop("no_sources", section.slug)
                continue
            heading = " ".join((section.heading or "").split())[: HEADING.most].strip() or None
            yield SectionProposal(section_slug(section.slug), known, heading)

    def known(self, source_ids: Collection[UUID]) -> Iterator[UUID]:
        for source_id in dict.fromkeys(source_ids):
            if source_id in self.source_ids:
                yield source_id
            else:
                self.drop("unknown_source", source_id)

    def held(self, plan: Plan) -> Iterator[HeldName]:
        for held in plan.held:
            if held.source_id not in self.source_ids:
                self.drop("unknown_source", held.source_id)
            elif next(self.aliases([held.name]), None) is not None:
                known = held.suggested_type is None or held.suggested_type in PAGE_TYPES
                if not known:
                    self.drop("unknown_type", held.suggested_type)
                context = held.context.replace("\0", "")[: QUOTE.most].strip()
                yield replace(held, context=context, suggested_type=held.suggested_type if known else None)

    def links(self, plan: Plan) -> Iterator[LinkProposal]:
        for link in plan.links:
            if any(self.known(link.source_ids)):
                yield link
            else:
                self.drop("no_sources", (link.start, link.end))

    def aliases(self, names: Collection[str]) -> Iterator[str]:
        for name in names:
            try:
                yield validation.alias(name)
            except BadInput:
                self.drop("bad_alias", name)

    def tags(self, tags: Collection[str]) -> Iterator[str]:
        for tag in tags:
            try:
                yield from validation.tags([tag])
            except BadInput:
                self.drop("bad_tag", tag)

    def summary(self, summary: str | None) -> str | None:
        try:
            return validation.summary(summary)
        except BadInput:
            self.drop("bad_summary", summary)
            return None
