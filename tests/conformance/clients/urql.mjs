// urql: results that carry data and errors together, POST and GET.

import { Client, cacheExchange, fetchExchange } from "@urql/core";
import assert from "node:assert/strict";
import { authorization as headers, check, url } from "../check.mjs";
import { PAGE, PAGES, RENAME, WRONG, isAustin, isBadInput, renamePage, walkPages } from "./operations.mjs";

const tenantId = process.env.CAIRN_TENANT;

function client(options = {}) {
  const exchanges = [cacheExchange, fetchExchange];
  return new Client({ url, exchanges, preferGetMethod: false, fetchOptions: { headers }, ...options });
}

const urql = client();
let austin;

async function sure(result) {
  const { data, error } = await result;
  if (error) throw error;
  return data;
}

await check("a query with variables", async () => {
  austin = (await sure(urql.query(PAGE, { tenantId, slug: "austin-texas" }))).wikiPage;
  isAustin(austin);
});

await check("a connection walked page by page", () =>
  walkPages(async (variables) => (await sure(urql.query(PAGES, variables))).wikiPages),
);

await check("a mutation with its typed errors", () =>
  renamePage(austin, async (input) => (await sure(urql.mutation(RENAME, { input }))).updateWikiPage),
);

await check("an error with its code, and no exception", async () => {
  const { error } = await urql.query(WRONG, { after: "no cursor" });
  isBadInput(error.graphQLErrors);
});

await check("a query over GET", async () => {
  const data = await sure(client({ preferGetMethod: "force" }).query(PAGE, { tenantId, slug: "austin-texas" }));
  assert.equal(data.wikiPage.id, austin.id);
});

await check("an abort, and a query after it", async () => {
  let asked;
  const given = client({ fetch: (input, init) => (asked = fetch(input, init)) });
  const { unsubscribe } = given.query(PAGES, { first: 50 }).subscribe(() => assert.fail("it was answered"));
  await new Promise(setImmediate);
  unsubscribe();
  await assert.rejects(asked, { name: "AbortError" });
  assert.equal((await sure(client().query(PAGES, { first: 1 }))).wikiPages.edges.length, 1);
});
