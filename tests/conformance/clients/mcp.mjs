// The official MCP clients, the current one and the one before: each knows nothing but the address of the tools, is let
// in by a person in the reader, calls tools, renews its token, and is refused once it is disconnected.

import * as current from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import assert from "node:assert/strict";
import { authorization, check, token, url } from "../check.mjs";

const origin = new URL(url).origin;
const tools = new URL("/mcp", origin);
const callback = "http://127.0.0.1:3030/callback";
const same = { accept: "text/html", "sec-fetch-site": "same-origin" };
const DISCONNECT = `mutation($input: DisconnectWikiProgramInput!) {
  disconnectWikiProgram(input: $input) { disconnectedId }
}`;
const versions = {
  "@modelcontextprotocol/client": current,
  "@modelcontextprotocol/sdk": { Client, StreamableHTTPClientTransport, UnauthorizedError },
};

async function signIn() {
  const body = new URLSearchParams({ token, next: "/" });
  const answer = await fetch(new URL("/sign-in", origin), { method: "POST", body, headers: same, redirect: "manual" });
  assert.equal(answer.status, 303);
  return answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
}

// What the person's browser does: it shows the question, and says yes.
async function consent(cookie, authorizationUrl, access) {
  const headers = { ...same, cookie };
  const asked = await fetch(authorizationUrl, { headers, redirect: "manual" });
  assert.equal(asked.status, 302);
  const page = await (await fetch(new URL(asked.headers.get("location"), origin), { headers })).text();
  const [, request] = page.match(/name="request" value="([^"]+)"/);
  const body = new URLSearchParams({ request, decision: "allow", access });
  const sent = await fetch(new URL("/connect", origin), { method: "POST", body, headers, redirect: "manual" });
  assert.equal(sent.status, 303);
  return new URL(sent.headers.get("location"));
}

class Memory {
  redirectUrl = callback;
  constructor(name) {
    this.clientMetadata = { client_name: name, redirect_uris: [callback] };
  }
  state = () => "as it was given";
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.saved;
  saveTokens = (tokens) => void (this.saved = tokens);
  redirectToAuthorization = (address) => void (this.address = address);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (found) => void (this.found = found);
  discoveryState = () => this.found;
  invalidateCredentials = () => void (this.client = this.saved = undefined);
}

async function connected(sdk, memory, work) {
  const client = new sdk.Client({ name: memory.clientMetadata.client_name, version: "1.0.0" });
  await client.connect(new sdk.StreamableHTTPClientTransport(tools, { authProvider: memory }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function authorized(sdk, name, access) {
  const memory = new Memory(name);
  await assert.rejects(connected(sdk, memory, () => {}), sdk.UnauthorizedError);
  const answer = await consent(await signIn(), memory.address, access);
  assert.equal(answer.searchParams.get("state"), memory.state());
  const transport = new sdk.StreamableHTTPClientTransport(tools, { authProvider: memory });
  await transport.finishAuth(answer.searchParams.get("code"), answer.searchParams.get("iss") ?? undefined);
  assert.match(memory.saved.scope, /^wiki:read/);
  return memory;
}

async function graphql(query, variables) {
  const headers = { ...authorization, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await answer.json();
  assert.equal(errors, undefined);
  return data;
}

for (const [name, sdk] of Object.entries(versions)) {
  let writer;

  await check(`${name} connects without a token, and finds a page`, async () => {
    writer = await authorized(sdk, name, "write");
    await connected(sdk, writer, async (client) => {
      const found = await client.callTool({ name: "wiki_search", arguments: { query: "austin" } });
      assert.equal(found.structuredContent.results[0].page, "entity/austin-texas");
      const listed = (await client.listTools()).tools.map((tool) => tool.name);
      assert.ok(listed.includes("wiki_create"), String(listed));
    });
  });

  await check(`${name} writes under its own name`, () =>
    connected(sdk, writer, async (client) => {
      const page = { title: `Written by ${name}`, type: "topic", content: "A kettle with a long neck." };
      const made = await client.callTool({ name: "wiki_create", arguments: page });
      assert.ok(!made.isError, JSON.stringify(made.content));
      const shown = await client.callTool({ name: "wiki_history", arguments: { page: made.structuredContent.page } });
      assert.match(JSON.stringify(shown.content), new RegExp(name));
    }),
  );

  await check(`${name} renews a token that is refused`, () => {
    const before = writer.saved;
    writer.saved = { ...before, access_token: "none" };
    return connected(sdk, writer, async (client) => {
      assert.notEqual(writer.saved.refresh_token, before.refresh_token);
      assert.ok((await client.listTools()).tools.length > 0);
    });
  });

  await check(`${name} is only shown tools that read, where a person allows no more`, async () => {
    const reader = await authorized(sdk, `${name}, reading`, "read");
    assert.equal(reader.saved.scope, "wiki:read");
    await connected(sdk, reader, async (client) => {
      const listed = (await client.listTools()).tools.map((tool) => tool.name);
      assert.ok(!listed.includes("wiki_create"), String(listed));
      const page = { title: "No", type: "topic", content: "No." };
      const refused = await client.callTool({ name: "wiki_create", arguments: page });
      assert.ok(refused.isError);
    });
  });

  await check(`${name} is let in no more once it is disconnected`, async () => {
    const programs = (await graphql("{ wikiConnectedPrograms { nodes { id name } } }")).wikiConnectedPrograms.nodes;
    const { id } = programs.find((program) => program.name === name);
    await graphql(DISCONNECT, { input: { id } });
    writer.saved = { ...writer.saved, access_token: "none" };
    await assert.rejects(connected(sdk, writer, () => {}), sdk.UnauthorizedError);
  });
}
