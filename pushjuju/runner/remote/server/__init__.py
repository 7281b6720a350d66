"""The server of pushjuju on a machine, and the process that attaches an SSH session to the server."""
