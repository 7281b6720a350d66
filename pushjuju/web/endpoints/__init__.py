"""HTTP endpoints besides the websocket: uploads and downloads of files, and registrations of users."""
