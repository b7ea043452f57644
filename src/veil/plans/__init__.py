"""Plans: published algorithms in a few lines each, written with the verbs of a source; none sees a row or the noise."""
