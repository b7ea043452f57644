"""The documentation: pages written from results, and the site."""
