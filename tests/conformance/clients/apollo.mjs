// Apollo Client: a normalised cache, Relay's pagination in it, typed results of mutations, errors and aborts.

import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";
import assert from "node:assert/strict";
import { filter, firstValueFrom } from "rxjs";
import { authorization as headers, check, url } from "../check.mjs";
import { PAGE, PAGES, RENAME, WRONG, abortingFetch, isAustin, isBadInput, renamePage, walkPages } from "./operations.mjs";

const tenantId = process.env.CAIRN_TENANT;

function client(options = {}) {
  return new ApolloClient({
    link: new HttpLink({ uri: url, headers, ...options }),
    cache: new InMemoryCache({
      typePolicies: { Query: { fields: { wikiPages: relayStylePagination(["orderBy"]) } } },
    }),
  });
}

const apollo = client();
let austin;

await check("a query with variables", async () => {
  const { data } = await apollo.query({ query: gql(PAGE), variables: { tenantId, slug: "austin-texas" } });
  austin = data.wikiPage;
  isAustin(austin);
});

await check("a thing is one object in the cache, by its id", async () => {
  const cached = apollo.cache.extract()[`WikiPage:${austin.id}`];
  assert.equal(cached.title, "Austin, Texas");
});

await check("a connection walked page by page", () =>
  walkPages(async (variables) => {
    const { data } = await client().query({ query: gql(PAGES), variables });
    return data.wikiPages;
  }),
);

await check("a connection that grows in the cache by fetchMore", async () => {
  const pages = apollo.watchQuery({ query: gql(PAGES), variables: { first: 5, after: null } });
  const { data: first } = await firstValueFrom(pages.pipe(filter(({ loading }) => !loading)));
  await pages.fetchMore({ variables: { after: first.wikiPages.pageInfo.endCursor } });
  const { edges, pageInfo } = pages.getCurrentResult().data.wikiPages;
  assert.deepEqual([edges.length, new Set(edges.map(({ node }) => node.id)).size], [10, 10]);
  assert.equal(pageInfo.startCursor, first.wikiPages.pageInfo.startCursor);
});

await check("a mutation with its typed errors", () =>
  renamePage(austin, async (input) => {
    const { data } = await apollo.mutate({ mutation: gql(RENAME), variables: { input } });
    return data.updateWikiPage;
  }),
);

await check("an error with its code", async () => {
  const asked = apollo.query({ query: gql(WRONG), variables: { after: "no cursor" } });
  await assert.rejects(asked, (error) => CombinedGraphQLErrors.is(error) && (isBadInput(error.errors), true));
});

await check("a query over GET", async () => {
  const { data } = await client({ useGETForQueries: true }).query({
    query: gql(PAGE),
    variables: { tenantId, slug: "austin-texas" },
  });
  assert.equal(data.wikiPage.id, austin.id);
});

await check("an abort, and a query after it", async () => {
  const controller = new AbortController();
  const given = client({ fetch: abortingFetch(controller), fetchOptions: { signal: controller.signal } });
  await assert.rejects(given.query({ query: gql(PAGES), variables: { first: 50 } }), { name: "AbortError" });
  const { data } = await client().query({ query: gql(PAGES), variables: { first: 1 } });
  assert.equal(data.wikiPages.edges.length, 1);
});
