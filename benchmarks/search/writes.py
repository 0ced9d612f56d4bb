"""Measures the write of a page, and the share of it that is for search."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from time import perf_counter
from typing import Any
from unittest.mock import patch

from resolvers.model.drafts import PageDraft
from resolvers.pages import insert
from resolvers.pages.lifecycle import create_page, delete_page
from resolvers.search.index import index_pages, searchable

from ..wikis import wiki
from .backend import Backend, Spent
from .cairn import scope_of
from .corpus import other_wiki
from .prose import Author, Stock
from .wiki import Article

PAGES = 300  # pages that are written into a wiki of 1,000, and deleted afterwards
UNMEASURED = 20
OTHER = wiki(999_999, 999_999, 10_000)  # not a wiki in the database: only the seed of the pages that are written


@dataclass(frozen=True, slots=True)
class Writing:
    """Mean milliseconds for one page. `reading` is Python's time for finding the words of a body."""

    page: Spent
    search: Spent
    reading: float


async def measure_writes(backend: Backend, material: Stock) -> Writing:
    """Measure the creation of pages through the product's own resolver."""
    scope = scope_of(other_wiki())
    whole: list[Spent] = []
    ids = []
    reading = 0.0
    with measuring_search(backend) as parts:
        for article in islice(Author(OTHER, material).articles(), PAGES + UNMEASURED):
            started = perf_counter()
            searchable(article.page.body)
            reading += perf_counter() - started
            with backend.watched() as spent:
                ids.append((await create_page(backend.database, scope, draft(article))).page_id)
            whole.append(spent)
    for page_id in ids:
        await delete_page(backend.database, scope, page_id)
    return Writing(mean(whole), mean(parts), reading / len(whole) * 1000)


@contextmanager
def measuring_search(backend: Backend) -> Iterator[list[Spent]]:
    """Measure the writing of search rows in each page write, including the occasional counting of words."""
    found: list[Spent] = []

    async def watched(*arguments: Any, **options: Any) -> None:
        with backend.watched() as spent:
            await index_pages(*arguments, **options)
        found.append(spent)

    with patch.object(insert, index_pages.__name__, watched):
        yield found


def draft(article: Article) -> PageDraft:
    page = article.page
    return PageDraft(page.type, page.title, summary=page.summary, body=page.body, tags=page.tags,
                     aliases=article.aliases)  # fmt: skip


def mean(several: list[Spent]) -> Spent:
    """Return the mean without the first 20 writes, for which statements are still prepared."""
    counted = several[UNMEASURED:]
    return Spent(fmean(spent.processor for spent in counted), fmean(spent.wall for spent in counted))
