"""Tables, models and synopses in files: read with care, written whole or not at all."""
