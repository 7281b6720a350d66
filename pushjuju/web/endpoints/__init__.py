"""HTTP endpoints beside the websocket: files that come and go, and registrations."""
