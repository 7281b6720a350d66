"""Making machines ready: start them, take them in, set them up."""
