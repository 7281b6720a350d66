"""The parts of a charm as values, and rules on them."""
