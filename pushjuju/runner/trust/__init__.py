"""What a machine says, checked: its shape, its size and what it costs."""
