"""The HTTP server. Only this package uses uvicorn."""
