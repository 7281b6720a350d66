"""The adapter of Amazon EC2 and EBS."""
