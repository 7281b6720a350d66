"""The requests about secrets of users, secret backends and encryption keys."""
