"""The program: finds and runs the command that the user typed, and reports errors."""
