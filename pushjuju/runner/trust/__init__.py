"""Checks what a machine sends: its shape, its size, and the processor time that reading it takes."""
