"""The words that shells offer at each TAB."""
