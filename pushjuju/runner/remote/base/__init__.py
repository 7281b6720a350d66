"""What every part of the program needs."""
