"""Plans what has to be built for a charm's source tree."""
