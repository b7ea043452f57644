"""The verbs: each in a file with its check, charge, computation and noise, and the argument why they suffice."""
