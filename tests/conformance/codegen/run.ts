// An application's code over the generated documents: it compiles only when the types are right, and then it is run.

import {
  BacklinksDocument,
  CreatePageDocument,
  EvidenceDocument,
  GraphDocument,
  MobileSearchDocument,
  PageDocument,
  RecentPagesDocument,
  SearchDocument,
  SuggestDocument,
  TypedDocumentString,
} from "../build/codegen/graphql";

export interface Place {
  url: string;
  headers: Record<string, string>;
  tenantId: string;
}

async function ask<Result, Variables>(
  place: Place,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const response = await fetch(place.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...place.headers },
    body: JSON.stringify({ query: document.toString(), variables }),
  });
  const answer = (await response.json()) as { data: Result; errors?: { message: string }[] };
  if (answer.errors) throw new Error(answer.errors[0]?.message);
  return answer.data;
}

export async function run(place: Place): Promise<string[]> {
  const { tenantId } = place;
  const { wikiPage } = await ask(place, PageDocument, { tenantId, type: "ENTITY", slug: "austin-texas" });
  if (!wikiPage) throw new Error("there is no page");
  const lengths: number[] = wikiPage.sections.map((section) => section.bodyMd.length);

  const { node } = await ask(place, BacklinksDocument, { id: wikiPage.id, first: 3 });
  if (node?.__typename !== "WikiPage") throw new Error("the page is no page");
  const linking: string[] = node.backlinks.edges.map((edge) => edge.node.title);

  const { wikiSearchResults } = await ask(place, SearchDocument, {
    query: "coffee",
    filter: { types: ["ENTITY", "TOPIC"] },
    first: 5,
  });
  const { wikiSuggest } = await ask(place, SuggestDocument, { prefix: "aus" });
  const { mobileWikiSearch } = await ask(place, MobileSearchDocument, { query: "austin" });
  const { recentWikiPages } = await ask(place, RecentPagesDocument, { limit: 4 });
  const { wikiGraph } = await ask(place, GraphDocument, { tenantId });
  const { nodes } = await ask(place, EvidenceDocument, { ids: wikiPage.sections.map((section) => section.id) });
  const headings = nodes.map((one) => (one?.__typename === "WikiSection" ? one.heading : "nothing"));

  const { createWikiPage } = await ask(place, CreatePageDocument, { input: { type: "TOPIC", title: "" } });
  const refused: string = createWikiPage.userErrors.map((error) => error.field.join(".")).join();

  return [
    `sections ${lengths.length === headings.length && !headings.includes("nothing")}`,
    `backlinks ${linking.length === 3}`,
    `search ${wikiSearchResults.edges.length > 0 && wikiSuggest.length > 0 && mobileWikiSearch.length > 0}`,
    `lists ${recentWikiPages.length === 4 && (wikiGraph?.edges.length ?? 0) > 0}`,
    `typed errors ${refused === "title"}`,
  ];
}
