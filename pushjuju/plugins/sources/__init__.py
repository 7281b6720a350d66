"""Built-in sources of charms: Charmhub, mirrors, directories, archives, git checkouts."""
