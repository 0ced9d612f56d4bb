"""Tools for agents over the Model Context Protocol: over HTTP at /mcp, and over stdio with `cairn mcp`."""
