"""What shells ask for at each TAB."""
