"""Builds the hook tool client for each processor and writes it into the package: `make toolclient`.

Needs the compilers of COMPILERS (Debian: gcc, gcc-aarch64-linux-gnu). The built programs are in the
repository, so other developers do not need the compilers.
"""

from __future__ import annotations

import binascii
import hashlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zlib
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "client.c"
TARGET = HERE.parents[1] / "pushjuju" / "runner" / "remote" / "tools" / "nativeclient.py"
COMPILERS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}
FLAGS = [
    "-Os", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-builtin", "-nostdlib", "-static", "-no-pie",
    "-fno-pic", "-s", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none",
    "-Wl,-z,noseparate-code",
]  # fmt: skip
HEAD = '''"""The hook tool client without a libc: an ELF program per processor, base64 of zlib.

Written by `make toolclient` from contrib/toolclient/client.c; never by hand.
"""

from __future__ import annotations

'''


def build(processor: str, target: Path) -> None:
    """Compile the client for a processor.

    Raises:
        OSError: The compiler is not installed.
    """
    subprocess.run([COMPILERS[processor], *FLAGS, "-o", target, SOURCE], check=True)


def main() -> None:
    """Build the clients and write them."""
    if missing := [name for name in COMPILERS.values() if not shutil.which(name)]:
        sys.exit(f"ERROR not installed: {', '.join(missing)}; Debian: apt install gcc gcc-aarch64-linux-gnu")
    lines = [f'SOURCE = "{hashlib.sha256(SOURCE.read_bytes()).hexdigest()}"  # SHA-256 of client.c', ""]
    lines.append("PROGRAMS = {")
    with tempfile.TemporaryDirectory() as folder:
        for processor in COMPILERS:
            program = Path(folder) / processor
            build(processor, program)
            text = binascii.b2a_base64(zlib.compress(program.read_bytes(), 9), newline=False).decode()
            lines.append(f'    "{processor}": (')
            lines += [f'        "{part}"' for part in textwrap.wrap(text, 96)]
            lines.append("    ),")
    TARGET.write_text(HEAD + "\n".join([*lines, "}", ""]))
    sys.stdout.write(f"wrote {TARGET}\n")


if __name__ == "__main__":
    main()
