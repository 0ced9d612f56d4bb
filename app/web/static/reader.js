// The script of every page: search suggestions, preview cards of links, and dates in the time zone of the browser.
// Markup is fetched as parsed documents and never inserted as text, which the policy of the pages forbids.

/** Returns whether a response is an answer, and not an error or the sign-in page, to which an ended session leads. */
function isAnswered(response) {
  return Boolean(response?.ok && !response.redirected);
}

/** Fetches an HTML document of this service. Returns null unless the status is 200, and for the sign-in page. */
function fetchDocument(address, { body, signal } = {}) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(body ? "POST" : "GET", address);
    request.responseType = "document";
    if (body) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onloadend = () => {
      const isHere = request.status === 200 && new URL(request.responseURL).pathname !== "/sign-in";
      resolve(isHere ? request.response : null);
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

/** Stores a text in this browser, if there is room for it. */
function store(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch (error) {
    console.warn(error);
  }
}

/** Returns whether a key belongs to an input method, in which the person composes or chooses a word. */
function isComposing(event) {
  return event.isComposing || event.keyCode === 229; // Safari reports the last key of a word by its code alone
}
window.cairn = { fetchDocument, isAnswered, isComposing, store };

// -- search suggestions

const PAUSE = 30; // milliseconds after the last key

function suggestIn(form) {
  const input = form.querySelector("input");
  const list = form.querySelector(".suggestions");
  const status = form.querySelector("[role=status]");
  let timer, chosen = -1;
  let pending; // the controller of the suggestions that are being fetched
  const options = () => [...list.querySelectorAll("[role=option]")];
  Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": "suggestions", "aria-autocomplete": "list" })
    .forEach(([name, value]) => input.setAttribute(name, value));
  list.id = "suggestions";

  function close() {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }
  function choose(index) {
    const all = options();
    chosen = all.length ? (index + all.length) % all.length : -1;
    all.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    if (chosen < 0) return;
    input.setAttribute("aria-activedescendant", all[chosen].id);
    all[chosen].scrollIntoView({ block: "nearest" });
  }
  async function suggest() {
    pending?.abort();
    const query = input.value.trim();
    if (!query) return close();
    pending = new AbortController();
    const { signal } = pending;
    const found = await fetchDocument(`${form.dataset.suggest}?q=${encodeURIComponent(query)}`, { signal });
    if (signal.aborted || !found) return;
    list.replaceChildren(...document.importNode(found.body, true).childNodes);
    list.hidden = false;
    chosen = -1;
    input.setAttribute("aria-expanded", "true");
    status.textContent = found.title;
  }
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    if (list.hidden || isComposing(event)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      location.assign(options()[chosen].dataset.href);
    }
  });
  list.addEventListener("mousedown", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) location.assign(option.dataset.href);
  });
  input.addEventListener("blur", () => setTimeout(close, 150));
}
document.querySelectorAll("form[data-suggest]").forEach(suggestIn);
for (const input of document.querySelectorAll("input[data-names]")) {
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const found = await fetchDocument(`${input.dataset.names}?q=${encodeURIComponent(input.value.trim())}`);
      const names = [...(found?.querySelectorAll("[data-name]") ?? [])].map((option) => option.dataset.name);
      input.list.replaceChildren(...names.map((name) => new Option(name, name)));
    }, PAUSE);
  });
}
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    document.querySelector(".find input")?.focus();
  }
});

// -- the text of a chosen file, filled into the form of a new source

const picker = document.querySelector("[data-file]");
picker?.querySelector("input").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  const problem = picker.querySelector("[role=alert]");
  const address = `${picker.dataset.file}?name=${encodeURIComponent(file.name)}`;
  const answer = await fetch(address, { method: "POST", body: file }).catch(() => null);
  const isText = answer?.headers.get("content-type")?.startsWith("text/plain");
  problem.textContent = isAnswered(answer) ? "" : isText ? await answer.text() : picker.dataset.failed;
  if (!isAnswered(answer)) return;
  document.getElementById("content").value = await answer.text();
  document.getElementById("title").value ||= file.name.replace(/\.[^.]+$/, "");
});

// -- preview cards of links

const cards = new Map();
let card, timer;

function hideCard() {
  clearTimeout(timer);
  card?.remove();
  card = undefined;
}
async function showCard(link) {
  const path = new URL(link.href).pathname.replace("/wiki/", "/preview/");
  if (!cards.has(path)) cards.set(path, await fetchDocument(path));
  const found = cards.get(path)?.querySelector(".card");
  if (!found || !link.matches(":hover, :focus-visible")) return;
  hideCard();
  card = document.importNode(found, true);
  card.setAttribute("aria-hidden", "true");
  document.body.append(card);
  const at = link.getBoundingClientRect();
  const below = at.bottom + card.offsetHeight + 12 < innerHeight;
  card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - card.offsetWidth - 8)) + scrollX}px`;
  card.style.top = `${(below ? at.bottom + 6 : at.top - card.offsetHeight - 6) + scrollY}px`;
}
for (const link of document.querySelectorAll("a.wiki-link")) {
  const showSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(showCard, 250, link);
  };
  link.addEventListener("mouseenter", showSoon);
  link.addEventListener("focus", showSoon);
  link.addEventListener("mouseleave", hideCard);
  link.addEventListener("blur", hideCard);
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hideCard());

// -- dates in the time zone of the browser, opened footnotes, and what has changed

const days = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "long", year: "numeric" });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  const parts = Object.fromEntries(days.formatToParts(moment).map(({ type, value }) => [type, value]));
  const minute = "minute" in time.dataset ? `, ${clock.format(moment)}` : "";
  time.textContent = `${parts.day} ${parts.month} ${parts.year}${minute}`;
  time.title = moments.format(moment);
}
function readFragment() {
  const fragment = location.hash.slice(1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment; // a percent sign that encodes nothing, as in #100%
  }
}
function openFootnote() {
  document.getElementById(readFragment())?.querySelector("details")?.setAttribute("open", "");
}
addEventListener("hashchange", openFootnote);
openFootnote();
addEventListener("beforeprint", () => document.querySelectorAll(".evidence details").forEach((note) => (note.open = true)));

// A drawing that is wider than the screen is scrolled to its middle.
const wide = document.querySelector(".wide-graph");
if (wide) wide.scrollLeft = (wide.scrollWidth - wide.clientWidth) / 2;

const reading = document.querySelector(".reading[data-page]");

// A draft that was sent is dropped once the page that it became is shown, or the proposal.
const sent = sessionStorage.getItem("cairn:sent");
if (sent && (reading || document.querySelector("[data-proposed]"))) {
  const [, , page, , before] = sent.split(":"); // cairn:draft:PAGE:SECTION:VERSION, or cairn:draft:new:OWNER
  const isPage = page === reading?.dataset.page && Number(before) < Number(reading.dataset.version);
  const isNewPage = page === "new" && reading?.dataset.version === "1";
  if (!reading || isPage || isNewPage) localStorage.removeItem(sent);
  sessionStorage.removeItem("cairn:sent");
}

if (reading) {
  const key = `cairn:read:${reading.dataset.page}`;
  const before = Number(localStorage.getItem(key) ?? reading.dataset.version);
  const since = document.getElementById("changed-since");
  since.hidden = before >= Number(reading.dataset.version);
  since.querySelector("a").search = `?from=${before}&to=${reading.dataset.version}`;
  store(key, reading.dataset.version);
  const links = new Map([...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]));
  const headingObserver = new IntersectionObserver(
    (entries) => {
      const first = entries.find((entry) => entry.isIntersecting);
      if (!first) return;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(encodeURIComponent(first.target.id))?.setAttribute("aria-current", "true");
    },
    { rootMargin: "0px 0px -75% 0px" },
  );
  document.querySelectorAll(".part > h2[id]").forEach((heading) => headingObserver.observe(heading));

  // Similar pages are fetched when the end of the side column, where they are shown, becomes visible.
  const related = document.querySelector("[data-related]");
  const columnObserver = new IntersectionObserver(async ([entry]) => {
    if (!entry.isIntersecting) return;
    columnObserver.disconnect();
    const list = (await fetchDocument(related.dataset.related))?.querySelector("ul");
    if (!list) return;
    related.append(document.importNode(list, true));
    related.hidden = false;
  });
  columnObserver.observe(document.querySelector(".around"));

  // A tab in the background holds no connection. When it becomes visible again, it learns of changes that it missed.
  const notice = document.getElementById("changed-now");
  let events;
  const follow = () => {
    events?.close();
    if (document.hidden || !notice.hidden) return;
    events = new EventSource(`/follow/${reading.dataset.page}`);
    events.addEventListener("complete", () => events.close());
    events.addEventListener("next", (event) => {
      const page = JSON.parse(event.data).data?.change?.page;
      if (!page || page.version <= Number(reading.dataset.version)) return;
      const by = notice.querySelector("span");
      notice.hidden = false;
      by.textContent = by.dataset.by.replace("{name}", page.revisions.nodes[0]?.authorName ?? "Somebody");
      events.close();
    });
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => events?.close());
  follow();
}
