"""The facade Application, in parts."""
