"""Explore: a page on the owner's own machine that shows what privacy costs before it is paid. It never opens rows and
never charges: every path ends in something to copy."""
