"""Finding bins of numbers and pools of categories in the rows, before a plan asks about them."""
