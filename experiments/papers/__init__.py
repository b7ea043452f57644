"""The experiments of papers, repeated on public tables with seeded noise that protects nobody."""
