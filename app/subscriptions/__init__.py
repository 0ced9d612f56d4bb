"""GraphQL subscriptions over WebSocket (graphql-transport-ws) and server-sent events. Start reading at streams.py."""
