"""A service with a signed-in browser, for the tests that open the reader in Chromium."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from db.scope import Review, Role, Terms
from resolvers.pages.sections import patch_section
from resolvers.proposals.gate import ReviewRequired
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.app.clients.web_client import add_page
from tests.app.service import serving
from tests.wiki import Wiki

BODY = """## Water

The pool at [[Barton Springs]] is cold; [[Nowhere]] is not. See [x](https://elsewhere.example/).

| place | °C |
|---|---:|
| pool | 20 |

```python
def swim(lengths: int) -> str:
    return "cold" * lengths
```

- [x] swim
- [ ] dry

## Food

> Brisket, and a *queue*.
"""


@dataclass
class Reader:
    """A service with a signed-in browser, and a wiki of two pages, a source and a proposal."""

    url: str
    owner: str
    source: str
    page: str
    token: str
    proposal: str

    def path(self, kind: str = "wiki", slug: str = "austin") -> str:
        return f"{self.url}/{kind}/{self.owner}/topic/{slug}"


@pytest.fixture
async def reader(dsn: str, tmp_path: Path, wiki: Wiki, owner: str) -> AsyncIterator[Reader]:
    await add_page(wiki, "Barton Springs", "Cold.", summary="A pool in Austin.", tags=["water"])
    await add_page(wiki, "Austin", BODY, summary="A city.", tags=["city", "water"])
    page = await wiki.row("pages", slug="austin")
    draft = SourceDraft("daily_note", "day-1", "Arrived.\nThe pool is cold.\nAte.", "A day in Austin")
    source = (await add_source(wiki.database, wiki.scope, draft)).source_id
    given = {"page_id": page["id"], "section_slug": "water", "source_id": source, "line_start": 2, "line_end": 2}
    await cite_source(wiki.database, wiki.scope, **given)
    writing = replace(
        wiki.with_role(Role.MEMBER).scope, review=Review(terms=Terms("Seen today", ("daily_note:day-1",)))
    )
    with pytest.raises(ReviewRequired) as review:
        await patch_section(wiki.database, writing, page["id"], section_slug="food", body="> Brisket, and *pie*.")
    async with serving(dsn, tmp_path) as signing:
        token = signing.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with serving(dsn, tmp_path, local_token=token) as service:
        yield Reader(service.url, owner, str(source), str(page["id"]), token, str(review.value.proposal_id))
