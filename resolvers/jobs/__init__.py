"""The queue of compile jobs."""
