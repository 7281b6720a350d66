"""What files of this host tell of its machines. `status` reads them, so nothing heavy is imported here."""
