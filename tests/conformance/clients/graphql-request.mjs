// graphql-request: what a script or a service uses.

import { ClientError, GraphQLClient } from "graphql-request";
import assert from "node:assert/strict";
import { authorization as headers, check, url } from "../check.mjs";
import { PAGE, PAGES, RENAME, WRONG, abortingFetch, isAustin, isBadInput, renamePage, walkPages } from "./operations.mjs";

const tenantId = process.env.CAIRN_TENANT;
const client = new GraphQLClient(url, { headers });
let austin;

await check("a query with variables", async () => {
  austin = (await client.request(PAGE, { tenantId, slug: "austin-texas" })).wikiPage;
  isAustin(austin);
});

await check("a connection walked page by page", () =>
  walkPages(async (variables) => (await client.request(PAGES, variables)).wikiPages),
);

await check("a mutation with its typed errors", () =>
  renamePage(austin, async (input) => (await client.request(RENAME, { input })).updateWikiPage),
);

await check("an error with its code", async () => {
  await assert.rejects(
    client.request(WRONG, { after: "no cursor" }),
    (error) => error instanceof ClientError && (isBadInput(error.response.errors), true),
  );
});

await check("an abort, and a query after it", async () => {
  const controller = new AbortController();
  const given = new GraphQLClient(url, { headers, fetch: abortingFetch(controller), signal: controller.signal });
  await assert.rejects(given.request(PAGES, { first: 50 }), { name: "AbortError" });
  assert.equal((await client.request(PAGES, { first: 1 })).wikiPages.edges.length, 1);
});
