// Search as it is typed, its results walked on and on, and a page made from what was not found.

import { graphql } from "relay-runtime";

export const query = graphql`
  query SearchScreenQuery($words: String!, $filter: WikiSearchFilter) {
    ...SearchScreen_results @arguments(words: $words, filter: $filter)
  }
`;

export const results = graphql`
  fragment SearchScreen_results on Query
  @refetchable(queryName: "SearchScreenMoreQuery")
  @argumentDefinitions(
    words: { type: "String!" }
    filter: { type: "WikiSearchFilter" }
    count: { type: "Int", defaultValue: 5 }
    cursor: { type: "String" }
  ) {
    wikiSearchResults(query: $words, filter: $filter, first: $count, after: $cursor)
      @connection(key: "SearchScreen_wikiSearchResults", filters: ["query", "filter"]) {
      totalCount
      didYouMean
      edges {
        score
        snippet {
          text
          highlights {
            start
            length
          }
        }
        node {
          id
          title
          type
        }
      }
    }
  }
`;

export const pages = graphql`
  query SearchScreenPagesQuery {
    wikiPages(first: 50, orderBy: UPDATED) @connection(key: "SearchScreen_wikiPages") {
      edges {
        node {
          id
          title
        }
      }
    }
  }
`;

export const make = graphql`
  mutation SearchScreenMakeMutation($input: CreateWikiPageInput!, $connections: [ID!]!) {
    createWikiPage(input: $input) {
      page @prependNode(connections: $connections, edgeTypeName: "WikiPageEdge") {
        id
        title
      }
      userErrors {
        message
        field
      }
    }
  }
`;

export const archive = graphql`
  mutation SearchScreenDeleteMutation($input: WikiPageIdInput!, $connections: [ID!]!) {
    deleteWikiPage(input: $input) {
      deletedPageId @deleteEdge(connections: $connections) @deleteRecord
    }
  }
`;
