"""Tags with how many active pages carry each."""

from typing import Any

from sqlalchemy import Select, func, select

from selection import in_tenant

from ..tables import pages


def counted() -> Select[Any]:
    page = pages.alias()
    # In the order in which they were made, which is about that of the table: in any other the same block is met again
    # and again, and Postgres takes such an index as soon as other wikis make the table large.
    tagged = in_tenant(
        select(page.c.owner_id, page.c.tags).where(page.c.status == "active").order_by(page.c.id)
    ).subquery()
    each = select(tagged.c.owner_id, func.unnest(tagged.c.tags).label("tag")).subquery()
    tally = select(each.c.owner_id, each.c.tag, func.count().label("count")).group_by(each.c.owner_id, each.c.tag)
    row = tally.subquery()
    return select(row).order_by(row.c.count.desc(), row.c.tag.desc())
