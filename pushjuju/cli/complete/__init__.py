"""Shell completion: what the shell offers at each TAB."""
