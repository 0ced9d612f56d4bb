"""HTTP: requests, answers, limits and errors of every endpoint."""
