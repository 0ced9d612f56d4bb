"""Traces of a forgotten source outside of pages: reasons of links, tags, the search vocabulary, the activity log,
errors of jobs and stored responses."""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from content.search.words import words
from db.sql import statements
from lib.threads import offload
from resolvers.links.references import refresh_hubness
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.search.index import count_words, vocabulary
from resolvers.search.passages import count_passage_words
from resolvers.transactions.writer import Writer

from ..aggregate.density import Aggregation, parse_aggregation
from ..aggregate.listing import listing_summary
from ..aggregate.promotion import tag_suffix
from ..aggregate.stored import AGGREGATION, SectionKey, set_aggregations, store_compiled
from ..metrics import Metrics
from .history import erase_states
from .pages import renew_trajectory
from .request import CLAIMED, ForgetRequest, needles

FORGETTING = statements("sources/forgetting")


async def forget_vocabulary(writer: Writer, forgotten_words: Collection[str]) -> frozenset[str]:
    """Remove the words that no page contains any more from the vocabulary of search, and return them."""
    unsaid: set[str] = set(forgotten_words)
    for analyser in await count_words(writer):
        unsaid &= await forget_words(writer, analyser, forgotten_words)
    for number in await count_passage_words(writer):
        await forget_words(writer, number, forgotten_words)
    return frozenset(unsaid)


async def forget_words(writer: Writer, analyser: int, forgotten_words: Collection[str]) -> set[str]:
    """Remove the words that an index no longer contains from its vocabulary, and return them."""
    values = {"analyser": analyser, "words": vocabulary(sorted(forgotten_words))}
    unsaid = [row["word"] for row in await writer.all(FORGETTING["find_unsaid"], **values)]
    await writer.run(FORGETTING["drop_words"], analyser=analyser, words=unsaid)
    await writer.run(FORGETTING["drop_empty_words"], analyser=analyser)
    return set(unsaid)


NOTE = "Tags that no page has any more"


async def drop_tags(writer: Writer, forgotten_words: Collection[str]) -> list[Page]:
    """Remove the unused tags that contain a forgotten word from rollup sections and topics; return the changed
    pages."""
    observed = [row["tag"] for row in await writer.all(AGGREGATION["find_unborne_tags"])]
    lost = {tag for tag in observed if not set(forgotten_words).isdisjoint(words(tag))}
    if not lost:
        return []
    rows = await writer.all(AGGREGATION["find_observing"], tags=sorted(lost))
    known: dict[UUID, dict[str, Aggregation]] = defaultdict(dict)
    for row in rows:
        state = replace(parse_aggregation(row["aggregation"]), promoted_page_id=row["promoted_page_id"])
        known[row["page_id"]][row["section_slug"]] = state
    grown = {row["promoted_page_id"] for row in rows if row["promoted_page_id"]}
    changed = []
    for page in (await find_pages(writer, grown | known.keys())).values():
        after = without_tags_in_text(page, known[page.id], lost)
        if page.id in grown:
            after = without_tags(after, lost)
        if after != page:
            changed.append((page, after))
    section_keys: dict[SectionKey, Aggregation] = {
        (page_id, slug): without_observed(state, lost)
        for page_id, lists in known.items()
        for slug, state in lists.items()
    }
    await set_aggregations(writer, section_keys)
    return await store_compiled(writer, changed, NOTE)


def without_observed(known: Aggregation, lost: Collection[str]) -> Aggregation:
    """Return the state of a rollup section without these tags."""
    observed = tuple(tag for tag in known.observed_tags if tag not in lost)
    return replace(known, observed_tags=observed, tag=None if known.tag in lost else known.tag)


def without_tags_in_text(page: Page, known: dict[str, Aggregation], lost: Collection[str]) -> Page:
    """Return the page without these tags in the summary lines of its rollup sections.

    An empty section that has such a tag as its heading is removed, even if its promotion was suppressed.
    """
    tagged = {slug for slug, state in known.items() if state.tag in lost}
    sections = tuple(section for section in page.sections if section.body.strip() or section.slug not in tagged)
    drafts = [
        SectionDraft(
            section.body.replace(listing_summary(state), listing_summary(without_observed(state, lost))), section.slug
        )
        for section in sections
        if (state := known.get(section.slug))
    ]
    return replace(page, sections=outline.merge_drafts(page.type, sections, drafts) if drafts else sections)


def without_tags(page: Page, lost: Collection[str]) -> Page:
    """Return a topic without these tags, both as its own tags and in its summary."""
    tags = tuple(tag for tag in page.tags if tag not in lost)
    summary = page.summary and page.summary.replace(tag_suffix(page.tags), tag_suffix(tags))
    return replace(page, tags=tags, summary=summary)


SLUGGED = re.compile(r"[-_]")


async def erase_traces(writer: Writer, request: ForgetRequest, done: Metrics) -> None:
    """Erase all traces. Tags are removed before the vocabulary, because they count among the words of pages.

    Stop words are no traces: nearly all texts have them, but the index of search does not.
    """
    await drop_reasons(writer, request)
    await drop_claims(writer, request)
    for page in await drop_tags(writer, request.forgotten.words):
        await erase_states(writer, page, request.since, done)
    forgotten = request.forgotten
    unsaid = await forget_vocabulary(writer, forgotten.words - forgotten.stop_words)
    await clear_log(writer, request, unsaid)
    await drop_mutes(writer, request, unsaid)
    await writer.run(FORGETTING["erase_job_errors"])
    await writer.run(FORGETTING["drop_answers"], since=request.since, needles=needles(request, unsaid))


async def drop_reasons(writer: Writer, request: ForgetRequest) -> None:
    """Remove the reasons of links that forgotten sources gave, and the links that have no other reason."""
    reasons = [f"co_mention:{source_id}" for source_id in request.forgotten.ids]
    touched = await writer.all(FORGETTING["drop_reasons"], reasons=reasons)
    await writer.run(FORGETTING["drop_unfounded"])
    refresh_hubness(writer, [row["to_page_id"] for row in touched])


async def drop_claims(writer: Writer, request: ForgetRequest) -> None:
    """Delete claims, contradictions, proposals and decision questions that cite or quote a forgotten source."""
    for noun, columns in CLAIMED.items():
        rows = await writer.all(FORGETTING[f"find_{noun}_since"], since=request.since, source_ids=request.source_ids)
        texts = ["\n".join(row[column] or "" for column in columns) for row in rows]
        quoting = await offload(sum(map(len, texts)), list[bool], map(request.is_repeated_in, texts))
        ids = [row["id"] for row, quotes in zip(rows, quoting, strict=True) if row["is_of_them"] or quotes]
        await writer.run(FORGETTING[f"drop_{noun}"], ids=ids)
        if noun == "claims":
            dropped = set(ids)
            for page in (await find_pages(writer, {row["page_id"] for row in rows if row["id"] in dropped})).values():
                await renew_trajectory(writer, page)


async def clear_log(writer: Writer, request: ForgetRequest, unsaid: frozenset[str]) -> None:
    """Clear activity log entries that quote a forgotten source, or contain a word that no page contains any more."""
    logged = await writer.all(FORGETTING["find_logged_names"], since=request.since)
    texts = [SLUGGED.sub(" ", str(row["detail"])) for row in logged]
    quoting = await offload(sum(map(len, texts)), list[bool], map(request.is_repeated_in, texts))
    ids = [
        row["id"]
        for row, text, quotes in zip(logged, texts, quoting, strict=True)
        if quotes or not unsaid.isdisjoint(words(text))
    ]
    await writer.run(FORGETTING["clear_log"], ids=ids)


async def drop_mutes(writer: Writer, request: ForgetRequest, unsaid: frozenset[str]) -> None:
    """Delete lint mutes that quote a forgotten source, or contain a word that no page contains any more."""
    rows = await writer.all(FORGETTING["find_mutes_since"], since=request.since)
    texts = ["\n".join(filter(None, (row["name"], row["reason"]))) for row in rows]
    quoting = await offload(sum(map(len, texts)), list[bool], map(request.is_repeated_in, texts))
    dropped = [
        row
        for row, text, quotes in zip(rows, texts, quoting, strict=True)
        if quotes or not unsaid.isdisjoint(words(text))
    ]
    keys = {"check_names": [row["check_name"] for row in dropped], "subjects": [row["subject"] for row in dropped]}
    await writer.run(FORGETTING["drop_mutes"], **keys)
