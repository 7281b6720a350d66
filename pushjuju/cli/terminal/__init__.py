"""The output at a terminal: streams, tables, colours, progress, questions."""
