"""The public types: what plugins and the host exchange, by who implements them."""
