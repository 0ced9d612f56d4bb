// A page with its sections, its backlinks as a list that grows, and a section edited in place.

import { graphql } from "relay-runtime";

export const query = graphql`
  query PageScreenQuery($id: ID!) {
    node(id: $id) {
      __typename
      ...PageScreen_page @alias(as: "page")
    }
    viewer {
      role
      owner {
        name
      }
    }
  }
`;

export const page = graphql`
  fragment PageScreen_page on WikiPage
  @refetchable(queryName: "PageScreenBacklinksQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" }) {
    title
    type
    version
    updatedAt
    ...PageScreen_sections
    children {
      id
      title
    }
    sources(first: 2) {
      totalCount
      nodes {
        title
        capturedAt
      }
    }
    backlinks(first: $count, after: $cursor) @connection(key: "PageScreen_backlinks") {
      edges {
        kinds
        node {
          id
          title
        }
      }
    }
  }
`;

export const sections = graphql`
  fragment PageScreen_sections on WikiPage {
    sections {
      id
      heading
      bodyMd
    }
  }
`;

export const edit = graphql`
  mutation PageScreenEditMutation($input: PatchWikiSectionInput!) {
    patchWikiSection(input: $input) {
      page {
        version
        ...PageScreen_sections
      }
      userErrors {
        message
        field
      }
      conflict {
        currentVersion
        page {
          ...PageScreen_sections
        }
      }
    }
  }
`;
