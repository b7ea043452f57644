"""Training and judging the automatic choice: public databases, what every method does on them, and regrets."""
