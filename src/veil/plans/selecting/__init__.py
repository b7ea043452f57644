"""Which features are worth keeping."""
