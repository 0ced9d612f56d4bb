"""Tags with how many active pages carry each."""

from typing import Any

from sqlalchemy import Select, func, select

from selection import in_tenant

from ..tables import pages


def counted() -> Select[Any]:
    page = pages.alias()
    tag = func.unnest(page.c.tags).label("tag")
    each = in_tenant(select(page.c.owner_id, tag).where(page.c.status == "active")).subquery()
    tally = select(each.c.owner_id, each.c.tag, func.count().label("count")).group_by(each.c.owner_id, each.c.tag)
    row = tally.subquery()
    return select(row).order_by(row.c.count.desc(), row.c.tag.desc())
