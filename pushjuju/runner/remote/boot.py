"""The first code that runs on a machine: a short, old-fashioned text, run as an argument of ``python3 -c``.

The code runs ``enter.py``: compiled, as ``base/compiled.py`` kept the code at an earlier contact, or else
from the text, which Python needs a millisecond to compile. Every Python 3 must accept the code.

Arguments: content hash, root directory, options (JSON), this text itself as base64 of zlib, which no shell
changes and START unpacks, and the addresses of the connection (SSH_CONNECTION of sshd).
"""

import gc
import marshal
import sys
import zlib

START = "import sys,zlib,binascii;exec(zlib.decompress(binascii.a2b_base64(sys.argv[4])))"
ENTER = ""  # the text of ``enter.py``, when this text is packed

gc.disable()  # imports make no garbage; the server enables the search again


def kept() -> tuple:  # type: ignore[type-arg]
    """Return the code of ``base/compiled.py``, the compiled modules, and the code of ``enter.py``."""
    home = sys.argv[2] + "/var/lib/juju/pushjuju/" + sys.argv[1]
    name = "/compiled-%s-%x" % (sys.implementation.cache_tag, sys.hexversion)
    with open(home + name, "rb") as file:
        data = memoryview(file.read())
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "big"):
        raise ValueError
    own, modules = marshal.loads(data[4:])
    code = marshal.loads(modules["pushjuju/runner/remote/enter"])
    if type(code) is not type(kept.__code__):
        raise ValueError
    return own, modules, code


try:
    FOUND = kept()
except (OSError, LookupError, ValueError, EOFError, TypeError, AttributeError):
    FOUND = ()
exec(FOUND[2] if FOUND else ENTER)  # noqa: S102 - only root can write the file
