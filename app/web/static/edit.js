// The editor of texts: a live preview, drafts that survive a reload, and completion of page names after [[.

const PAUSE = 300; // milliseconds after the last key
const DRAFTS_MAX = 50; // drafts that are stored in this browser
const { fetchDocument, isAnswered, isComposing, store } = window.cairn;
const form = document.querySelector("form[data-draft-key]");
const area = form.querySelector("textarea");
const editor = form.querySelector("[data-editor]");

// -- the preview

const preview = editor.querySelector(".preview");
const shown = preview.querySelector(".prose");
let timer;
let pending; // the controller of the preview that is being fetched
async function show() {
  pending?.abort();
  pending = new AbortController();
  const { signal } = pending;
  const body = new URLSearchParams({ body: area.value }).toString();
  const found = await fetchDocument(editor.dataset.render, { body, signal });
  if (!found || signal.aborted) return;
  shown.replaceChildren(...document.importNode(found.body, true).childNodes);
  preview.hidden = false;
}

// -- drafts

// A draft of an earlier version of the page is saved as an edit of that version, and so merged with what changed since.
const version = form.elements.version;
const ownKey = `cairn:draft:${form.dataset.draftKey}`;
const saved = area.value;
const draftNotice = form.querySelector("[data-draft]");
const versionOf = (name) => Number(name.split(":").at(-1));
function findEarlierDraft() {
  if (!version || document.querySelector(".notice[role=alert]")) return null; // a text with a mistake is shown again
  const start = ownKey.slice(0, ownKey.lastIndexOf(":") + 1);
  const isEarlier = (name) => name.startsWith(start) && versionOf(name) < versionOf(ownKey);
  const names = Object.keys(localStorage).filter(isEarlier);
  return names.sort((a, b) => versionOf(b) - versionOf(a))[0] ?? null;
}
let key = localStorage.getItem(ownKey) === null ? (findEarlierDraft() ?? ownKey) : ownKey;
const draft = localStorage.getItem(key);
if (draft !== null && draft !== saved) {
  area.value = draft;
  draftNotice.hidden = false;
  if (key !== ownKey) version.value = versionOf(key);
}
draftNotice.querySelector("button").addEventListener("click", () => {
  localStorage.removeItem(key);
  key = ownKey;
  if (version) version.value = versionOf(ownKey);
  area.value = saved;
  draftNotice.hidden = true;
  show();
});
function storeDraft() {
  if (area.value === saved) return localStorage.removeItem(key);
  const drafts = Object.keys(localStorage).filter((name) => name.startsWith("cairn:draft:"));
  if (drafts.length >= DRAFTS_MAX && !drafts.includes(key)) localStorage.removeItem(drafts[0]);
  store(key, area.value);
}
// The draft is kept until a page shows that it was saved (see reader.js): the request may fail, or the session may end.
sessionStorage.removeItem("cairn:sent");
form.addEventListener("submit", () => sessionStorage.setItem("cairn:sent", key));

// -- the headings of the chosen type, unless the person has written something

const type = form.querySelector("select[name=type]");
let template = saved;
type?.addEventListener("change", () => {
  if (area.value !== template) return;
  template = type.selectedOptions[0].dataset.template;
  area.value = template;
  show();
});

// -- completion of page names after [[

const list = editor.querySelector(".completing");
let chosen = 0;
const options = () => [...list.querySelectorAll("[role=option]")];
// Returns the start and the name of the [[ link before the cursor that is not closed yet, or null.
function findOpenLink() {
  const before = area.value.slice(0, area.selectionStart);
  const start = before.lastIndexOf("[[");
  const name = before.slice(start + 2);
  return start < 0 || /[\]\n|]/.test(name) ? null : { start: start + 2, name };
}
async function complete() {
  const at = findOpenLink();
  if (!at?.name.trim()) return (list.hidden = true);
  const found = await fetchDocument(`${editor.dataset.suggest}?q=${encodeURIComponent(at.name)}`);
  if (!found || findOpenLink()?.name !== at.name) return;
  list.replaceChildren(...document.importNode(found.body, true).childNodes);
  list.hidden = !options().length;
  choose(0);
}
function choose(index) {
  const all = options();
  chosen = all.length ? (index + all.length) % all.length : 0;
  all.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
}
function insertName(option) {
  const at = findOpenLink();
  list.hidden = true;
  if (!at || !option) return;
  const closed = area.value.slice(area.selectionStart).startsWith("]]") ? "" : "]]";
  area.setRangeText(option.dataset.name + closed, at.start, area.selectionStart, "end");
  area.focus();
  area.dispatchEvent(new Event("input"));
}
list.addEventListener("mousedown", (event) => {
  event.preventDefault();
  insertName(event.target.closest("[role=option]"));
});
area.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && (event.key === "s" || event.key === "Enter")) {
    event.preventDefault();
    return form.requestSubmit();
  }
  if (list.hidden || isComposing(event)) return;
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) choose(chosen + moves[event.key]);
  else if (event.key === "Enter" || event.key === "Tab") insertName(options()[chosen]);
  else if (event.key === "Escape") list.hidden = true;
  else return;
  event.preventDefault();
});

// -- HTML that is pasted from a web page or a document is converted to Markdown

const RICH = /<(a|b|strong|em|i|h[1-6]|ul|ol|table|blockquote|pre|code)\b/i;
const PASTED_MAX = 500_000; // characters
area.addEventListener("paste", async (event) => {
  const rich = event.clipboardData?.getData("text/html") ?? "";
  const plain = event.clipboardData?.getData("text/plain") ?? "";
  if (!RICH.test(rich) || rich.length > PASTED_MAX) return;
  event.preventDefault();
  const request = { method: "POST", body: new URLSearchParams({ body: rich }) };
  const answer = await fetch(editor.dataset.paste, request).catch(() => null);
  area.focus();
  // This deprecated command is the only way to insert text so that undo works.
  document.execCommand("insertText", false, isAnswered(answer) ? await answer.text() : plain);
});

area.addEventListener("input", () => {
  storeDraft();
  clearTimeout(timer);
  timer = setTimeout(() => {
    show();
    complete();
  }, PAUSE);
});
show();
