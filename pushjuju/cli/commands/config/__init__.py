"""Commands for settings and constraints of applications, models and controllers."""
