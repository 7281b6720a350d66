"""The program: its entry, the word after it, what becomes of errors."""
