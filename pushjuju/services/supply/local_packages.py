"""Serves folders of packages on this computer to a build machine, as HTTP through its SSH connection.

No port is opened on this computer. The machine can read the folders that pip's settings name, the files that
pages in these folders link to, and nothing else.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pushjuju.core.values import regex
from pushjuju.runner.ssh.library import asyncssh

_LINK = regex(r"""href\s*=\s*["']([^"'#?]+)""", re.IGNORECASE)
_PIECE = 1 << 18


class LocalPackages:
    """Answers HTTP requests for the files of some folders.

    Args:
        folders: The folders and pages that pip's settings name.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._linked: set[Path] = set()

    async def answer(self, reader: asyncssh.SSHReader[Any], writer: asyncssh.SSHWriter[Any]) -> None:
        """Answer one request, then close the connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target = head.split(b" ", 2)[:2]
            for piece in self._pieces(
                _place(target.decode("ascii").partition("?")[0]), has_body=method == b"GET"
            ):
                writer.write(piece)
                await writer.drain()
            writer.write_eof()
        except (OSError, EOFError, ValueError, asyncssh.Error):
            pass  # the client has ended, or its request is malformed
        finally:
            writer.close()

    def _pieces(self, path: Path, *, has_body: bool) -> Iterator[bytes]:
        is_named = path in self._linked or any(path.is_relative_to(folder) for folder in self._folders)
        page = self._page(path) if is_named and (path.is_dir() or path.suffix == ".html") else None
        if not is_named or (page is None and not path.is_file()):
            yield _head("404 Not Found", "text/plain", 0)
        elif page is not None:
            yield _head("200 OK", "text/html; charset=utf-8", len(page))
            yield page if has_body else b""
        else:
            yield _head("200 OK", "application/octet-stream", path.stat().st_size)
            with path.open("rb") as file:
                while has_body and (piece := file.read(_PIECE)):
                    yield piece

    def _page(self, path: Path) -> bytes | None:
        """Return a page with the links of a page or folder; from now on, their targets may be read."""
        folder, file = (path, path / "index.html") if path.is_dir() else (path.parent, path)
        text = file.read_text("utf-8", "replace").replace("file:///", "/") if file.is_file() else ""
        if path.is_dir():
            names = sorted(found.name for found in path.iterdir() if found.is_file())
            text += "".join(f'<a href="{quote(name)}">{escape(name)}</a>\n' for name in names)
        links = map(unescape, _LINK.findall(text))
        self._linked |= {_place(link, folder) for link in links if "://" not in link}
        return text.encode()


def _place(link: str, folder: Path = Path("/")) -> Path:
    """Return the path that a link on a folder's page leads to."""
    return Path(os.path.normpath(folder / unquote(link)))


def _head(status: str, kind: str, size: int) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    ).encode()
