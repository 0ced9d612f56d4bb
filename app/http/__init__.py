"""HTTP: requests, responses, limits and errors of all endpoints."""
