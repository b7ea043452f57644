"""Counts over grids that are chosen for the classes."""
