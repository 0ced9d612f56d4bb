"""GraphQL that streams: over a WebSocket (graphql-transport-ws), and as server-sent events. Start at streams.py."""
