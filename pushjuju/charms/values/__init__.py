"""The values a charm is made of, and rules on them."""
