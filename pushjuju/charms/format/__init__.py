"""The files of a charm, read and checked."""
