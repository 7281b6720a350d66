"""What a charm's source tree asks to be built."""
