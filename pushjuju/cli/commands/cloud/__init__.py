"""Commands for clouds and their regions."""
