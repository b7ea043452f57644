"""Plans that publish a histogram for range queries, one file for each published algorithm."""
