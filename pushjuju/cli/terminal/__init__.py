"""What the user sees at the terminal: streams, tables, colours, progress, questions."""
