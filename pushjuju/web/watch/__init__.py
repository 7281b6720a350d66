"""What tells clients of changes: pictures of watched models, and the watchers that read them."""
