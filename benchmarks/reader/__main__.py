"""Measures the cost of reader pages on a running demo: `make demo`, then `python -m benchmarks.reader --pid PID`.

PID is the process of the server: `pgrep -f 'cairn demo'` prints it. The page is read as HTML, from its address with
`.json` (its sections as Markdown with their evidence, without links and history) and, with a token of `cairn token`, as
a GraphQL response to the same document that the HTML is made from. All pages of the wiki are also read in turn, so that
no page is read twice in a row. The time from the last key to the hits is taken in Chromium, and includes the reader's
pause after a key.

With `--other-pid` and `--other-url` the first server and a second server of the same wiki, such as one with
CAIRN_READ_DATABASE_URLS, are read in turns: no request is sent twice, and only the CPU time of both is compared.
"""

import argparse
import gzip
import html
import itertools
import json
import re
import statistics
from collections.abc import Callable, Iterable, Mapping

import httpx

from app.web.shell import with_shell
from tests.app.chromium import EXECUTABLE, tab

from ..processes import cpu_seconds

SCRIPTS = re.compile(r'<script type="module" src="([^"]+)"')
READS_PER_TURN = 10  # reads of one server in a turn
HTML = {"accept": "text/html"}
SEEN = """new Promise((done) => {
    const field = document.querySelector(".find input"), list = document.querySelector(".suggestions");
    const told = new MutationObserver(() => {
        if (list.hidden || !list.querySelector("[role=option]")) return;
        told.disconnect();
        requestAnimationFrame(() => done(performance.now() - at));
    });
    told.observe(list, { childList: true, subtree: true, attributes: true });
    field.focus();
    field.value = QUERY;
    const at = performance.now();
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
})"""


def cost(read: Callable[[str], httpx.Response], process: int, pages: Iterable[str], times: int) -> float:
    """Return the server's CPU milliseconds per read, for `times` reads in turn. Prints it and the median time."""
    in_turn = itertools.cycle(pages)
    for page in itertools.islice(in_turn, 20):
        read(page).raise_for_status()
    before = cpu_seconds([process])
    took = [read(page).raise_for_status().elapsed.total_seconds() * 1000 for page in itertools.islice(in_turn, times)]
    spent = (cpu_seconds([process]) - before) / times * 1000
    print(f"{spent:.1f} ms of CPU, {statistics.median(took):.1f} ms")
    return spent


def pages_of(browser: httpx.Client, owner: str) -> list[str]:
    """Return the addresses of all pages of a wiki, from its lists of pages."""
    found: dict[str, None] = {}
    path = f"/pages/{owner}"
    while path:
        text = browser.get(path).raise_for_status().text
        found |= dict.fromkeys(re.findall(rf'href="(/wiki/{owner}/[a-z]+/[^"#]+)"', text))
        more = re.search(r'href="(/pages/[^"]*after=[^"]*)"', text)
        path = html.unescape(more[1]) if more else ""
    return list(found)


def ask_graphql(url: str, token: str) -> Callable[[str], httpx.Response]:
    """Return a function that requests the document of a page's HTML over GraphQL."""
    client = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30)
    any_page = client.post("/graphql", json={"query": "{ wikiPages(first: 1) { nodes { tenantId } } }"}).json()
    tenant = any_page["data"]["wikiPages"]["nodes"][0]["tenantId"]

    def read(page: str) -> httpx.Response:
        _, _, owner, type, slug = page.split("/")
        variables = {"tenantId": tenant, "owner": owner, "type": type.upper(), "slug": slug}
        body = {"query": with_shell("read"), "operationName": "Read", "variables": variables}
        return client.post("/graphql", json=body)

    return read


def compare(servers: Mapping[str, int], path: str, times: int) -> list[float]:
    """Return the CPU milliseconds per read of each server. The servers take turns, ten reads at a time."""
    spent, number = dict.fromkeys(servers, 0.0), itertools.count()
    with httpx.Client(headers=HTML, timeout=30) as browser:
        for turn in range(times // READS_PER_TURN + 1):
            for url, process in servers.items():
                before = cpu_seconds([process])
                for _ in range(READS_PER_TURN):
                    browser.get(f"{url}{path}?n={next(number)}").raise_for_status()
                spent[url] += (cpu_seconds([process]) - before) * (turn > 0)  # the first turn fills caches
    return [seconds / (times // READS_PER_TURN * READS_PER_TURN) * 1000 for seconds in spent.values()]


def to_hits(url: str, path: str, query: str, times: int) -> list[float]:
    """Return the milliseconds from the last key to the hits, for `times` searches, each on a newly opened page."""
    found = []
    with tab() as browser:
        for _ in range(times):
            browser.open("about:blank")
            browser.wait_for("location.href === 'about:blank'")
            browser.open(url + path)
            browser.wait_for("location.protocol === 'http:' && document.readyState === 'complete' && !!window.cairn")
            script = SEEN.replace("QUERY", json.dumps(query))
            parameters = {"expression": script, "awaitPromise": True, "returnByValue": True}
            found.append(float(browser.call("Runtime.evaluate", **parameters)["result"]["value"]))
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--pid", type=int, required=True, help="the process of the server")
    parser.add_argument("--page", default="mara/entity/austin-texas", help="OWNER/TYPE/SLUG")
    parser.add_argument("--query", default="austin")
    parser.add_argument("--times", type=int, default=200, help="reads of each kind; many more exceed the rate limit")
    parser.add_argument("--token", help="token of an owner who may read the page, to read it over GraphQL")
    parser.add_argument("--other-url", default="http://127.0.0.1:8001")
    parser.add_argument("--other-pid", type=int, help="the process of a second server, to be compared with the first")
    options = parser.parse_args()
    process, owner = options.pid, options.page.partition("/")[0]
    page = f"/wiki/{options.page}"
    if options.other_pid is not None:
        for path in (page, f"{page}.json"):
            one, other = compare({options.url: process, options.other_url: options.other_pid}, path, options.times)
            print(f"{path}: {one:.2f} and {other:.2f} ms of CPU")
        return
    paths = [page, f"/wiki/{owner}", f"/pages/{owner}", f"/sources/{owner}", f"/work/{owner}", f"/new/{owner}"]
    with httpx.Client(base_url=options.url, headers=HTML, timeout=30) as browser:
        ways: dict[str, Callable[[str], httpx.Response]] = {
            "HTML": browser.get,
            ".json": lambda path: browser.get(f"{path}.json"),
        }
        if options.token:
            ways["GraphQL, the same document"] = ask_graphql(options.url, options.token)
        for what, pages in {"one page": [page], "all pages in turn": pages_of(browser, owner)}.items():
            spent = {}
            for way, read in ways.items():
                print(f"{what}, {way}:", end=" ")
                spent[way] = cost(read, process, pages, options.times)
            print(", ".join(f"HTML to {way}: {spent['HTML'] / own:.2f}" for way, own in spent.items() if way != "HTML"))
        for path in [*paths, f"/search/{owner}?q={options.query}"]:
            text = browser.get(path).raise_for_status().text
            scripts = [gzip.compress(browser.get(script).content) for script in SCRIPTS.findall(text)]
            print(f"{path}: {len(text.encode()):,} bytes of HTML, {sum(map(len, scripts)):,} of JavaScript gzipped")
    if EXECUTABLE is None:
        print("Chromium is missing: the time to the hits was not measured")
        return
    times = to_hits(options.url, page, options.query, 20)
    print(f"key to hits: median {statistics.median(times):.0f} ms, {times[0]:.0f} to {times[-1]:.0f} ms")


if __name__ == "__main__":
    main()
