"""Settings and constraints of applications, models and controllers."""
