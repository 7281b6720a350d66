"""What a model needs to become what a bundle describes; pure."""
