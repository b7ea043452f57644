"""Models of all columns, from which synthetic rows are drawn."""
