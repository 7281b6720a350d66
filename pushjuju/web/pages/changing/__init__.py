"""Changes from pages: forms, their plans, and what they do."""
