"""Amazon EC2 and EBS."""
