"""The HTTP server: the only package that knows uvicorn."""
