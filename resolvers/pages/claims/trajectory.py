"""Trajectories: pages that list the superseded claims of a page, oldest first, with their sources.

A page with at least two superseded claims has a trajectory, at the slug of the page with `-trajectory` appended. It is
rewritten in each transaction that changes a claim, and archived while there are fewer than two claims or the page is
archived. It is deleted with the page. Its metadata marks it as the trajectory of the page; another page that has or had
the slug is left alone.
"""

from dataclasses import replace

from content.claims import claims
from content.limits import SLUG, TITLE
from content.markdown.links import title_link
from content.markdown.sections import Section
from content.sensitivity import FIELD, level_of, stricter, strictest
from db.connection import Row
from db.ids import new_id
from db.sql import statements

from ...links.references import assert_references
from ...model import outline
from ...model.pages import Page, find_page
from ...proposals.gate import levels_of
from ...transactions.writer import Writer, record_consequence
from ..update import save

CLAIMS, PAGES = statements("review/claims"), statements("pages/pages")
TRAJECTORY_OF, SUFFIX, REASON = "trajectory_of", "-trajectory", "trajectory"
MIN_CLAIMS, MAX_CLAIMS = 2, 500


def is_trajectory(page: Page) -> bool:
    return TRAJECTORY_OF in (page.metadata or {})


def slug_of(slug: str) -> str:
    """Return the slug of the trajectory of a page. Pages whose long slugs begin alike have the same."""
    return slug[: SLUG.maximum - len(SUFFIX)].rstrip("-") + SUFFIX


async def find_trajectories(writer: Writer, page: Page, former_slug: str | None = None) -> list[Row]:
    """Return the pages with the slug of the trajectory of a page, and whether they are the trajectory."""
    slugs = [page.slug, *([former_slug] if former_slug else [])]
    return await writer.all(
        CLAIMS["find_trajectories"],
        page_id=page.id,
        type=page.type,
        slugs=list(map(slug_of, slugs)),
        addresses=[f"{page.type}/{slug}" for slug in slugs],
    )


async def keep_trajectory(writer: Writer, page: Page, former_slug: str | None = None) -> None:
    """Write, update or archive the trajectory of a page. `former_slug` is the slug of the page before a rename."""
    if is_trajectory(page):
        return
    slug, found = slug_of(page.slug), await find_trajectories(writer, page, former_slug)
    own = next((row for row in found if row["is_own"]), None)
    if any(row["slug"] == slug and not row["is_own"] for row in found):
        return  # another page has the slug of the trajectory
    is_active = page.status == "active"
    if own is None and (not is_active or found[0]["claims"] < MIN_CLAIMS):
        return
    if own is None or own["slug"] != slug:
        former = await writer.one(PAGES["find_by_former_slug"], type=page.type, slug=slug)
        if former and not (own and own["id"] == former["id"]):
            return  # links with this slug lead to another page, which had it
    rows = await writer.all(CLAIMS["list_of_page"], page_id=page.id, limit=MAX_CLAIMS) if is_active else []
    before = await find_page(writer, own["id"]) if own else None
    if len(rows) < MIN_CLAIMS and (before is None or before.status == "archived"):
        return
    if len(rows) < MIN_CLAIMS and before is not None:
        after = replace(before, status="archived")
    else:
        after = describe_trajectory(before or Page(new_id(), page.type, slug, page.title), page, slug, rows)
    if before and is_same(before, after):
        return
    saved = await save(writer, before, after, edit_summary=f"Trajectory of {page.title}")
    if after.status == "active":
        await assert_references(writer, [(page.id, after.id, REASON)])
    await record_consequence(writer, "page.updated" if before else "page.created", after.id, version=saved.version)


def describe_trajectory(known: Page, page: Page, slug: str, rows: list[Row]) -> Page:
    """Return the trajectory of a page with these claims. It is as sensitive as the page, its sections and sources."""
    title = f"{page.title[: TITLE.maximum - 13]} (trajectory)"
    lines = "\n".join(map(line_of, rows))
    body = f"How {title_link(page.title, page.type, page.slug)} came to say what it says.\n\n{lines}"
    sections = outline.checked_outline([Section("overview", "", body)], "bodyMd")
    of_sources = (level_of({FIELD: row[f"{name}_level"]}) for row in rows for name in ("stated", "overriding"))
    level = {FIELD: strictest([*levels_of(page), *of_sources])}
    metadata = stricter((known.metadata or {}) | {TRAJECTORY_OF: f"{page.type}/{page.slug}"}, level)
    summary = f"What {page.title[:200]} used to say, and until when."
    after = replace(known, slug=slug, title=title, summary=summary, sections=sections)
    return replace(after, metadata=metadata, status="active")


def is_same(before: Page, after: Page) -> bool:
    return before.content == after.content and before.status == after.status


def line_of(row: Row) -> str:
    """Return `- 2026-03-02: “Ana lives in Porto.” became “Ana lives in Faro.” (daily_note:day-0, url:b)`."""
    fact, replacement = (claims.escaped(claims.quote_line(row[name])) for name in ("fact", "replacement"))
    sources = [f"{row[f'{name}_kind']}:{row[f'{name}_ref']}" for name in ("stated", "overriding") if row[f"{name}_ref"]]
    cited = f" ({', '.join(map(claims.escaped, sources))})" if sources else ""
    return f"- {row['superseded_on'].date().isoformat()}: “{fact}” became “{replacement}”{cited}"
