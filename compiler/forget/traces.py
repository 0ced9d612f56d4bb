"""Traces of a forgotten source beside pages: reasons of links, tags, words, the log, errors of jobs, kept answers."""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from content.search.words import words
from db.sql import statements
from lib.threads import read_in_thread
from resolvers.links.references import refresh_hubness
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.search.index import count_words, vocabulary
from resolvers.search.passages import count_passage_words
from resolvers.transactions.writer import Writer

from ..aggregate.density import Aggregation, read
from ..aggregate.listing import listing_summary
from ..aggregate.promotion import tag_suffix
from ..aggregate.stored import AGGREGATION, Spot, set_aggregations, store_compiled
from ..metrics import Metrics
from .history import erase_states
from .pages import renew_trajectory
from .wanted import CLAIMED, ForgetRequest, needles

FORGETTING = statements("sources/forgetting")


async def forget_vocabulary(writer: Writer, said: Collection[str]) -> frozenset[str]:
    """Take words that no page says any more out of what search counts and suggests: these words."""
    unsaid: set[str] = set(said)
    for analyser in await count_words(writer):
        unsaid &= await forget_words(writer, analyser, said)
    for number in await count_passage_words(writer):
        await forget_words(writer, number, said)
    return frozenset(unsaid)


async def forget_words(writer: Writer, analyser: int, said: Collection[str]) -> set[str]:
    """Remove these words from the vocabulary of an index that has none of them any more, and return which those are."""
    given = {"analyser": analyser, "words": vocabulary(sorted(said))}
    gone = [row["word"] for row in await writer.all(FORGETTING["find_unsaid"], **given)]
    await writer.run(FORGETTING["drop_words"], analyser=analyser, words=gone)
    await writer.run(FORGETTING["drop_empty_words"], analyser=analyser)
    return set(gone)


NOTE = "Tags that no page has any more"


async def untag(writer: Writer, gone: Collection[str]) -> list[Page]:
    """Remove the tags of which one of these words is a part, and return the pages that say something else now."""
    observed = [row["tag"] for row in await writer.all(AGGREGATION["find_unborne_tags"])]
    lost = {tag for tag in observed if not set(gone).isdisjoint(words(tag))}
    if not lost:
        return []
    rows = await writer.all(AGGREGATION["find_observing"], tags=sorted(lost))
    known: dict[UUID, dict[str, Aggregation]] = defaultdict(dict)
    for row in rows:
        held = replace(read(row["aggregation"]), promoted_page_id=row["promoted_page_id"])
        known[row["page_id"]][row["section_slug"]] = held
    grown = {row["promoted_page_id"] for row in rows if row["promoted_page_id"]}
    changed = []
    for page in (await find_pages(writer, grown | known.keys())).values():
        after = without_saying(page, known[page.id], lost)
        if page.id in grown:
            after = without_tags(after, lost)
        if after != page:
            changed.append((page, after))
    spots: dict[Spot, Aggregation] = {
        (page_id, slug): observing(held, lost) for page_id, lists in known.items() for slug, held in lists.items()
    }
    await set_aggregations(writer, spots)
    return await store_compiled(writer, changed, NOTE)


def observing(known: Aggregation, lost: Collection[str]) -> Aggregation:
    """Return the state of a section without these tags."""
    observed = tuple(tag for tag in known.observed_tags if tag not in lost)
    return replace(known, observed_tags=observed, tag=None if known.tag in lost else known.tag)


def without_saying(page: Page, known: dict[str, Aggregation], lost: Collection[str]) -> Page:
    """Return the page whose lines on what sections were about do not say these tags.

    One that is called by them and says nothing goes, also where somebody suppressed its growing.
    """
    emptied = {slug for slug, held in known.items() if held.tag in lost}
    sections = tuple(one for one in page.sections if one.body.strip() or one.slug not in emptied)
    drafts = [
        SectionDraft(section.body.replace(listing_summary(held), listing_summary(observing(held, lost))), section.slug)
        for section in sections
        if (held := known.get(section.slug))
    ]
    return replace(page, sections=outline.merge_drafts(page.type, sections, drafts) if drafts else sections)


def without_tags(page: Page, lost: Collection[str]) -> Page:
    """Return a topic without these tags, which it was given as its own, and the first as what it is about."""
    tags = tuple(tag for tag in page.tags if tag not in lost)
    summary = page.summary and page.summary.replace(tag_suffix(page.tags), tag_suffix(tags))
    return replace(page, tags=tags, summary=summary)


SLUGGED = re.compile(r"[-_]")


async def erase_traces(writer: Writer, wanted: ForgetRequest, done: Metrics) -> None:
    """Erase traces: tags before words, as what no page says any more is known after them."""
    await drop_reasons(writer, wanted)
    await drop_claims(writer, wanted)
    for page in await untag(writer, wanted.gone.words):
        await erase_states(writer, page, wanted.since, done)
    unsaid = await forget_vocabulary(writer, wanted.gone.words)
    await clear_log(writer, wanted, unsaid)
    await drop_mutes(writer, wanted, unsaid)
    await writer.run(FORGETTING["erase_job_errors"])
    await writer.run(FORGETTING["drop_answers"], since=wanted.since, needles=needles(wanted, unsaid))


async def drop_reasons(writer: Writer, wanted: ForgetRequest) -> None:
    """Remove links that nothing but forgotten sources gives."""
    reasons = [f"co_mention:{source_id}" for source_id in wanted.gone.ids]
    touched = await writer.all(FORGETTING["drop_reasons"], reasons=reasons)
    await writer.run(FORGETTING["drop_unfounded"])
    refresh_hubness(writer, [row["to_page_id"] for row in touched])


async def drop_claims(writer: Writer, wanted: ForgetRequest) -> None:
    """Remove superseded claims and contradictions that rest on a forgotten source, or that quote one."""
    for noun, columns in CLAIMED.items():
        rows = await writer.all(FORGETTING[f"find_{noun}_since"], since=wanted.since, source_ids=wanted.source_ids)
        texts = ["\n".join(row[column] or "" for column in columns) for row in rows]
        quoting = await read_in_thread(sum(map(len, texts)), list[bool], map(wanted.is_repeated_in, texts))
        ids = [row["id"] for row, quotes in zip(rows, quoting, strict=True) if row["is_of_them"] or quotes]
        await writer.run(FORGETTING[f"drop_{noun}"], ids=ids)
        if noun == "claims":
            dropped = set(ids)
            for page in (await find_pages(writer, {row["page_id"] for row in rows if row["id"] in dropped})).values():
                await renew_trajectory(writer, page)


async def clear_log(writer: Writer, wanted: ForgetRequest, unsaid: frozenset[str]) -> None:
    """Clear log entries with names that hold a word which nothing says any more."""
    logged = await writer.all(FORGETTING["find_logged_names"], since=wanted.since)
    ids = [row["id"] for row in logged if not unsaid.isdisjoint(words(SLUGGED.sub(" ", str(row["detail"]))))]
    await writer.run(FORGETTING["clear_log"], ids=ids)


async def drop_mutes(writer: Writer, wanted: ForgetRequest, unsaid: frozenset[str]) -> None:
    """Remove mutes of lint that quote a forgotten source, or hold a word which nothing says any more."""
    rows = await writer.all(FORGETTING["find_mutes_since"], since=wanted.since)
    texts = ["\n".join(filter(None, (row["name"], row["reason"]))) for row in rows]
    quoting = await read_in_thread(sum(map(len, texts)), list[bool], map(wanted.is_repeated_in, texts))
    dropped = [
        row
        for row, text, quotes in zip(rows, texts, quoting, strict=True)
        if quotes or not unsaid.isdisjoint(words(text))
    ]
    given = {"check_names": [row["check_name"] for row in dropped], "subjects": [row["subject"] for row in dropped]}
    await writer.run(FORGETTING["drop_mutes"], **given)
