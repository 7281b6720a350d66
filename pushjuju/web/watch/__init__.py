"""Reports changes to clients: pictures of watched models, and the watchers that read the pictures."""
