"""GraphiQL, served by Cairn. If its files are installed, the page loads nothing from any other server."""
