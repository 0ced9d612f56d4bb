"""What operators see of the service: logs, metrics, traces and slow operations."""
