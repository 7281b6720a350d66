"""What somebody asks for: one module for each request."""
