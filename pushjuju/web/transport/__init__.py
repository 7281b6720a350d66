"""What clients send: websockets that end without them, and where uploads wait."""
