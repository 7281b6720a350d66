"""What users list: one module for each noun, documents as Juju's JSON has them."""
