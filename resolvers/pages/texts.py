"""What the text of a page says: read once, and before the wiki is locked where it does not depend on the page."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from content.limits import LINKS
from content.links import Target, find_links
from content.sections import render
from lib.threads import read_in_thread

from ..errors import BadInput
from ..model import outline
from ..model.outline import Outline
from ..search.index import searchable


@dataclass(frozen=True, slots=True)
class PageText:
    """Sections, the body that they make, each target of its links once, and its words for search."""

    sections: Outline
    body: str
    targets: tuple[Target, ...]
    words: str


async def read_body(body: str, *, restored: bool = False) -> PageText:
    """Of a whole body as it was given, or as it was stored."""
    text = await read_in_thread(len(body), lambda: text_of(outline.from_body(body, restored=restored)))
    check_links(text.targets, LINKS.limit(restored=restored))
    return text


async def read_sections(sections: Outline) -> PageText:
    """Of sections that can stand together."""
    await asyncio.sleep(0)  # for others: many pages may be read one after the other
    return await read_in_thread(outline.size(sections), text_of, sections)


def text_of(sections: Outline) -> PageText:
    body = render(sections)
    return PageText(sections, body, written_targets(body), searchable(body))


def written_targets(body: str) -> tuple[Target, ...]:
    """Each target once, as it was first written."""
    targets = {target.target: target for target in reversed(find_links(body))}
    check_links(targets, LINKS.stored)
    return tuple(targets.values())


def check_links(targets: Collection[object], most: int) -> None:
    if len(targets) > most:
        raise BadInput(f"A page can link to {most:,} different targets, not to {len(targets):,}.", "bodyMd")
