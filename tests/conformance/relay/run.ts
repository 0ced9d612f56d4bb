// Relay's own runtime over the compiled documents: what it stores and reads back, by the ids of persisted texts.

import {
  Environment,
  FetchFunction,
  Network,
  RecordSource,
  Store,
  createOperationDescriptor,
  fetchQuery,
  getRequest,
} from "relay-runtime";
import PageScreenQuery, { PageScreenQuery as PageScreen } from "../build/relay/PageScreenQuery.graphql";
import SearchScreenQuery, { SearchScreenQuery as SearchScreen } from "../build/relay/SearchScreenQuery.graphql";

export interface Place {
  url: string;
  headers: Record<string, string>;
  pageId: string;
}

export async function run(place: Place, documents: Record<string, string>): Promise<string[]> {
  const fetchText: FetchFunction = async (request, variables) => {
    const query = request.id ? documents[request.id] : request.text;
    const response = await fetch(place.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...place.headers },
      body: JSON.stringify({ query, variables, operationName: request.name }),
    });
    return response.json();
  };
  const environment = new Environment({ network: Network.create(fetchText), store: new Store(new RecordSource()) });

  const page = await fetchQuery<PageScreen>(environment, PageScreenQuery, { id: place.pageId }).toPromise();
  await fetchQuery<SearchScreen>(environment, SearchScreenQuery, { words: "coffee" }).toPromise();
  const stored = environment.getStore().getSource();
  const backlinks = stored.get(`client:${place.pageId}:__PageScreen_backlinks_connection`);
  const results = stored
    .getRecordIDs()
    .find((id) => id.startsWith("client:root:__SearchScreen_wikiSearchResults_connection"));
  const descriptor = createOperationDescriptor(getRequest(PageScreenQuery), { id: place.pageId });
  return [
    `node ${page?.node?.__typename === "WikiPage"}`,
    `record ${stored.get(place.pageId)?.["title"] === "Austin, Texas"}`,
    `connection ${Array.isArray((backlinks?.["edges"] as { __refs?: unknown[] } | undefined)?.__refs)}`,
    `search ${results !== undefined}`,
    `nothing lacks ${environment.check(descriptor).status === "available"}`,
  ];
}
