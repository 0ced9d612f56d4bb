"""GraphiQL, served by Cairn itself: a page that asks nothing of any other server."""
