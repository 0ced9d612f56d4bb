// Cairn composed with another subgraph by Apollo's and the Guild's composition, and served by Apollo's gateway.

import { composeServices as composeByApollo } from "@apollo/composition";
import { ApolloGateway, RemoteGraphQLDataSource } from "@apollo/gateway";
import { composeServices as composeByGuild } from "@theguild/federation-composition";
import { parse } from "graphql";
import assert from "node:assert/strict";
import { authorization, check, token, url } from "../check.mjs";
import { serveNotes, typeDefs } from "./notes.mjs";

const { CAIRN_TENANT: tenantId, CAIRN_PAGE: page, CAIRN_OTHER_PAGE: otherPage, CAIRN_STRANGER: stranger } = process.env;
const foreign = process.env.CAIRN_FOREIGN_PAGE;

async function askCairn(query, variables) {
  const headers = { "content-type": "application/json", ...authorization };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  return response.json();
}

const notes = await serveNotes([page, otherPage, page, foreign]);
const { data } = await askCairn("{ _service { sdl } }");
const services = [
  { name: "cairn", url, typeDefs: parse(data._service.sdl) },
  { name: "notes", url: notes.url, typeDefs },
];
const supergraph = composeByApollo(services);

await check("composes by Apollo", () => assert.deepEqual(supergraph.errors ?? [], []));

await check("composes by the Guild", () => assert.deepEqual(composeByGuild(services).errors ?? [], []));

const sent = [];
class Cairn extends RemoteGraphQLDataSource {
  willSendRequest({ request, context }) {
    if (context?.authorization) request.http.headers.set("authorization", context.authorization);
    if (context?.authorization) sent.push(request.query);
  }
}

const gateway = new ApolloGateway({
  supergraphSdl: supergraph.supergraphSdl,
  buildService: (service) => (service.name === "cairn" ? new Cairn(service) : new RemoteGraphQLDataSource(service)),
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
const { schema, executor } = await gateway.load();

async function askGateway(source, variables = {}, credential = token) {
  const document = parse(source);
  sent.length = 0;
  const { data, errors } = await executor({
    document,
    schema,
    request: { query: source, variables },
    source,
    operation: document.definitions[0],
    operationName: null,
    queryHash: source,
    context: { authorization: credential && `Bearer ${credential}` },
    logger: console,
    cache: undefined,
    metrics: {},
    overallCachePolicy: undefined,
  });
  return { data, errors };
}

const NOTES = "{ notes { text about { id title backlinks(first: 1) { totalCount } } } }";

await check("pages that another subgraph refers to are resolved by one request", async () => {
  const { data, errors } = await askGateway(NOTES);
  assert.equal(errors, undefined);
  assert.deepEqual(data.notes.slice(0, 3).map(({ about }) => about.title), ["Austin, Texas", "Lisbon", "Austin, Texas"]);
  assert.equal(sent.length, 1);
  assert.match(sent[0], /_entities/);
});

await check("a page of another tenant is null, as one that is not there", async () => {
  const { data } = await askGateway(NOTES);
  assert.equal(data.notes[3].about, null);
});

await check("pages of Cairn carry the fields that another subgraph adds", async () => {
  const query = "query($t: ID!) { wikiPage(tenantId: $t, type: ENTITY, slug: \"austin-texas\") { title notes { text } } }";
  const { data, errors } = await askGateway(query, { t: tenantId });
  assert.equal(errors, undefined);
  assert.equal(data.wikiPage.title, "Austin, Texas");
  assert.deepEqual(data.wikiPage.notes.map(({ text }) => text), ["Note 0", "Note 2"]);
});

await check("the credential is the caller's: a stranger sees what is theirs", async () => {
  const { data } = await askGateway(NOTES, {}, stranger);
  assert.deepEqual(data.notes.map(({ about }) => about !== null), [false, false, false, true]);
});

await check("without a credential nothing of Cairn is answered", async () => {
  const { data, errors } = await askGateway(NOTES, {}, null);
  assert.ok(data.notes.every(({ about }) => about === null));
  assert.ok(errors.length > 0);
});

await gateway.stop();
notes.close();
