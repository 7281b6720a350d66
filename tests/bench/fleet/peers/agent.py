"""What the peers' hooks ask: answers every call of the hook tool client alike. Standard library only."""

import _socket
import os

PATH = "/run/bench-agent.sock"
ANSWER = b"R\0" + (6).to_bytes(4, "big") + b"title\n" + (0).to_bytes(4, "big")

listener = _socket.socket(1, 1)
try:
    os.unlink(PATH)
except FileNotFoundError:
    pass
listener.bind(PATH)
listener.listen(64)
while True:
    fd, _ = listener._accept()
    peer = _socket.socket(fileno=fd)
    size = int.from_bytes(peer.recv(4), "big")
    while size > 0:
        size -= len(peer.recv(size))
    peer.sendall(ANSWER)
    peer.close()
