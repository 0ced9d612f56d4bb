"""The queue of compile jobs, and the jobs that a caller may ask for."""
