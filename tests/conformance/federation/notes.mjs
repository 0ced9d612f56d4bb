// A subgraph of somebody else's: notes about pages of Cairn, of which it knows the ids and nothing more.

import { buildSubgraphSchema } from "@apollo/subgraph";
import { parse } from "graphql";
import { createHandler } from "graphql-http/lib/use/http";
import { createServer } from "node:http";

export const typeDefs = parse(/* GraphQL */ `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])

  type Query {
    notes: [Note!]!
  }
  type Note {
    text: String!
    about: WikiPage
  }
  type WikiPage @key(fields: "id") {
    id: ID!
    notes: [Note!]!
  }
`);

// `ids` are the pages that there are notes about.
export async function serveNotes(ids) {
  const notes = ids.map((id, number) => ({ text: `Note ${number}`, about: { id } }));
  const resolvers = {
    Query: { notes: () => notes },
    WikiPage: { notes: ({ id }) => notes.filter(({ about }) => about.id === id) },
  };
  const server = createServer(createHandler({ schema: buildSubgraphSchema({ typeDefs, resolvers }) }));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
