"""Feature selection."""
