// Starts GraphiQL. Its parameters are in the fragment of the URL, which browsers never send to a server:
//   /graphiql#token=…   is put into the headers editor, stored for this browser tab, and removed from the address bar
//   /graphiql#query=…   is put into the query editor; `variables` likewise
"use strict";

(() => {
  const TOKEN = "cairn:token";
  const WELCOME = `# Ctrl-Enter runs the query.
# Ctrl-Space completes a name.
# The folder builds it by clicking.
{
  recentWikiPages(limit: 10) {
    type
    slug
    title
    summary
  }
}
`;

  function main() {
    const root = document.getElementById("graphiql");
    if (!window.React || !window.ReactDOM || !window.GraphiQL || !window.GraphiQLPluginExplorer) {
      root.className = "unstarted";
      root.textContent =
        "GraphiQL's own files did not load. With npm on the server's machine, `make graphiql` puts them there.";
      return;
    }
    const fragment = takeFragment();
    const storage = tabStorage();
    if (fragment.token) storage?.setItem(TOKEN, fragment.token);
    window.addEventListener("hashchange", () => window.location.reload());
    const isSignedIn = root.dataset.signedIn === "true"; // to the reader, with a cookie that scripts cannot read
    if (isSignedIn || fragment.token || storage?.getItem(TOKEN)) start(root, fragment, storage);
    else signIn(root, fragment, storage);
  }

  function start(root, fragment, storage) {
    root.className = "";
    const element = React.createElement(GraphiQL, settings(root.dataset.endpoint, fragment, storage));
    ReactDOM.createRoot(root).render(element);
  }

  // Shows the sign-in form: without a token, every query fails with UNAUTHENTICATED.
  function signIn(root, fragment, storage) {
    root.className = "unstarted";
    root.replaceChildren(document.getElementById("sign-in").content.cloneNode(true));
    const form = root.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const token = new FormData(form).get("token").trim().replace(/^bearer\s+/i, "");
      if (token) storage?.setItem(TOKEN, token);
      start(root, token ? { ...fragment, token } : fragment, storage);
    });
    form.elements.token.focus();
  }

  function settings(endpoint, fragment, storage) {
    const token = fragment.token ?? storage?.getItem(TOKEN);
    return {
      fetcher: fetcher(endpoint),
      plugins: [GraphiQLPluginExplorer.explorerPlugin({ showAttribution: false })],
      storage,
      // Safe, because the storage belongs to this tab: closing the tab deletes the token.
      shouldPersistHeaders: true,
      defaultEditorToolsVisibility: token ? "headers" : true,
      defaultQuery: WELCOME,
      defaultHeaders: token ? authorization(token) : undefined,
      headers: fragment.token ? authorization(fragment.token) : undefined,
      query: fragment.query ?? undefined,
      variables: fragment.variables ?? undefined,
    };
  }

  // Subscriptions use server-sent events, whose requests send the headers of the editor; a WebSocket cannot send any.
  function fetcher(endpoint) {
    const fetchOnce = GraphiQL.createFetcher({ url: endpoint });
    return (params, options) =>
      isSubscription(params, options) ? subscribe(endpoint, params, options) : fetchOnce(params, options);
  }

  function isSubscription(params, options) {
    const definitions = options?.documentAST?.definitions ?? [];
    const operations = definitions.filter((definition) => definition.kind === "OperationDefinition");
    const name = params.operationName;
    const chosen = operations.find((operation) => !name || operation.name?.value === name);
    return chosen?.operation === "subscription";
  }

  // Returns an async iterator of events. GraphiQL calls `return` to stop it, which aborts the request at once.
  function subscribe(endpoint, params, options) {
    const stopping = new AbortController();
    const results = events(endpoint, params, options?.headers, stopping.signal);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => results.next(),
      return() {
        stopping.abort();
        return results.return();
      },
    };
  }

  async function* events(endpoint, params, headers, signal) {
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { Accept: "text/event-stream", "Content-Type": "application/json", ...headers },
        body: JSON.stringify(params),
        signal,
      });
      if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
        yield await response.json(); // the errors of a refused subscription
        return;
      }
      yield* parseEvents(response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async function* parseEvents(reader) {
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const blocks = (rest + read.value).split("\n\n");
      rest = blocks.pop();
      for (const lines of blocks.map((block) => block.split("\n"))) {
        if (lines.includes("event: complete")) return;
        const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
        if (data.length) yield JSON.parse(data.join("\n"));
      }
    }
  }

  function takeFragment() {
    const fragment = new URLSearchParams(window.location.hash.slice(1));
    if (window.location.hash) {
      window.history.replaceState(null, "", window.location.pathname + window.location.search);
    }
    return { token: fragment.get("token"), query: fragment.get("query"), variables: fragment.get("variables") };
  }

  // GraphiQL's history stores the headers of each request, so it must not outlive the tab as localStorage does.
  function tabStorage() {
    try {
      return window.sessionStorage;
    } catch {
      return null; // the browser blocks storage
    }
  }

  function authorization(token) {
    return JSON.stringify({ Authorization: `Bearer ${token}` }, null, 2);
  }

  main();
})();
