// What streams, as the libraries of its protocols read it: graphql-ws over WebSockets, graphql-sse over events, and the
// clients that are set up with the former.

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { OperationTypeNode } from "graphql";
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from "@urql/core";
import assert from "node:assert/strict";
import * as sse from "graphql-sse";
import * as ws from "graphql-ws";
import WebSocket from "ws";
import { authorization, check, url } from "../check.mjs";
import { isBadInput } from "./operations.mjs";

const FOLLOWED = /* GraphQL */ `
  subscription Followed($page: ID!) {
    wikiPageChanged(pageId: $page, initial: true) { kind version page { __typename id title bodyMd } }
  }
`;
const WRITE = /* GraphQL */ `
  mutation Write($text: String!) {
    upsertWikiPage(input: { type: TOPIC, title: "Followed", bodyMd: $text }) { page { __typename id version bodyMd } }
  }
`;
const WRONG = /* GraphQL */ `{ wikiPages(after: "no cursor") { nodes { __typename id } } }`;
const VIEWER = /* GraphQL */ `{ viewer { role } }`;
const PATIENCE = 20_000; // milliseconds: what does not come by then does not come

const sockets = (credential = authorization) =>
  ws.createClient({
    url: url.replace("http", "ws"),
    webSocketImpl: WebSocket,
    connectionParams: () => credential,
    retryAttempts: 0,
  });
const events = (headers = authorization) => sse.createClient({ url, headers: () => headers, retryAttempts: 0 });

let written = 0;

async function write() {
  const body = JSON.stringify({ query: WRITE, variables: { text: `Written ${++written} times.` } });
  const response = await fetch(url, {
    method: "POST",
    headers: { ...authorization, "Content-Type": "application/json" },
    body,
  });
  return (await response.json()).data.upsertWikiPage.page;
}

async function inTime(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came")), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// `start(take)` subscribes and returns how to stop; the first event says that changes are heard, the next is one.
async function follows(start) {
  const { id } = await write();
  const heard = [];
  let wake = () => {};
  const next = async () => {
    while (!heard.length) await new Promise((resolve) => (wake = resolve));
    return heard.shift();
  };
  const stop = start({ query: FOLLOWED, variables: { page: id } }, (event) => {
    heard.push(event);
    wake();
  });
  try {
    assert.equal((await inTime(next())).kind, "RESYNC");
    for (let n = 0; n < 2; n++) {
      const { version, bodyMd } = await write();
      const event = await inTime(next());
      assert.deepEqual([event.kind, event.version, event.page.bodyMd], ["UPDATED", version, bodyMd]);
    }
  } finally {
    stop();
  }
}

const rethrow = (error) => {
  throw error;
};

for (const [name, connect] of Object.entries({ "graphql-ws": sockets, "graphql-sse": events })) {
  const client = connect();
  const one = async (query, variables) => {
    for await (const answer of client.iterate({ query, variables })) return answer;
  };

  await check(`${name}: events with the page as it is`, () =>
    follows((asked, take) =>
      client.subscribe(asked, {
        next: ({ data }) => take(data.wikiPageChanged),
        error: rethrow,
        complete() {},
      }),
    ),
  );

  await check(`${name}: several at once, each by itself`, () =>
    Promise.all(
      [1, 2, 3].map(async () => assert.equal((await one(VIEWER)).data.viewer.role, "ADMIN")),
    ),
  );

  await check(`${name}: a mutation`, async () => {
    const { data } = await one(WRITE, { text: `By ${name}.` });
    assert.equal(data.upsertWikiPage.page.bodyMd, `By ${name}.`);
  });

  await check(`${name}: an error with its code`, async () => isBadInput((await one(WRONG)).errors));

  await check(`${name}: a page that may not be seen is an error with its code`, async () => {
    const asked = one(FOLLOWED, { page: process.env.CAIRN_FOREIGN_PAGE });
    const [error] = await asked.then(({ errors }) => errors, (errors) => errors);
    assert.equal(error.extensions.code, "NOT_FOUND");
  });

  await check(`${name}: no credential, and no second try`, async () => {
    const stranger = connect({ authorization: "Bearer nobody" });
    await assert.rejects(async () => {
      for await (const answer of stranger.iterate({ query: VIEWER })) assert.fail(JSON.stringify(answer));
    }, ({ code, response }) => code === 4403 || response?.status === 401);
    stranger.dispose();
  });

  client.dispose();
}

await check("Apollo Client: a subscription beside HTTP, into the cache", async () => {
  const socket = sockets();
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    new HttpLink({ uri: url, headers: authorization }),
  );
  const apollo = new ApolloClient({ link, cache: new InMemoryCache() });
  let page;
  await follows(({ query, variables }, take) => {
    const following = apollo.subscribe({ query: gql(query), variables }).subscribe({
      next: ({ data, error }) => {
        if (error) throw error;
        page = data.wikiPageChanged.page ?? page;
        take(data.wikiPageChanged);
      },
    });
    return () => following.unsubscribe();
  });
  assert.match(apollo.cache.extract()[`WikiPage:${page.id}`].bodyMd, /^Written \d+ times\.$/);
  const { data } = await apollo.query({ query: gql(VIEWER) });
  assert.equal(data.viewer.role, "ADMIN");
  apollo.stop();
  socket.dispose();
});

await check("urql: a subscription beside HTTP", async () => {
  const socket = sockets();
  const urql = new Client({
    url,
    preferGetMethod: false,
    fetchOptions: { headers: authorization },
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  });
  await follows(({ query, variables }, take) => {
    const following = urql.subscription(query, variables).subscribe(({ data, error }) => {
      if (error) throw error;
      take(data.wikiPageChanged);
    });
    return () => following.unsubscribe();
  });
  socket.dispose();
});
