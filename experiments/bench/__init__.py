"""Speed and memory, as ratios to a reference in the same run."""
