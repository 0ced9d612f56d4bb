"""OpenTelemetry, where the standard OTEL_ variables ask for it and `cairn-wiki[telemetry]` is installed."""
