"""What a person sees: streams, tables, colours, progress, questions."""
