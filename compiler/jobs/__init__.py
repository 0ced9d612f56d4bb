"""The worker and its jobs."""
