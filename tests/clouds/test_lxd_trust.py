"""Trust tokens of LXD, against a TLS server that takes one; tests/lxd has the real server."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import ssl
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import CredentialInvalid, NotValid, ProviderError
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.lxd import trust


class Server:
    """Takes a token once, from a client with a certificate."""

    def __init__(self, folder: Path) -> None:
        self.certificate, key = trust._new_pair()
        self.asked: list[dict[str, Any]] = []
        file = folder / "server.pem"
        file.write_text(self.certificate + key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        self.refusal = '{"error": "not authorized"}'
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.endpoint = f"https://127.0.0.1:{self._http.server_address[1]}"

    def token(self, fingerprint: str = "") -> str:
        """What `lxc config trust add` would print."""
        own = hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.certificate)).hexdigest()
        said = {"client_name": "me", "fingerprint": fingerprint or own, "secret": "s3cret", "addresses": []}
        return base64.b64encode(json.dumps(said).encode()).decode()

    def close(self) -> None:
        """End it."""
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known = self.path == "/1.0/certificates" and document not in server.asked
                server.asked.append(document)
                data = b"{}" if known else server.refusal.encode()
                self.send_response(201 if known else 403)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.close()


def test_a_token_becomes_a_certificate(server: Server) -> None:
    """It is sent once; the certificate of the server is kept."""
    cloud = CloudSpec(name="far", type="lxd", endpoint=server.endpoint)
    token = server.token()
    host = PluginHost(environ={})
    auth_type, found = host.finalize_credential(cloud, "interactive", {"trust-token": token})
    assert auth_type == "certificate"
    assert sorted(found) == ["client-cert", "client-key", "server-cert"]
    assert found["server-cert"].strip() == server.certificate.strip()
    assert server.asked == [{"type": "client", "name": "pushjuju", "password": token}]
    with pytest.raises(CredentialInvalid, match="it was used already, or has expired") as caught:
        host.finalize_credential(cloud, "interactive", {"trust-token": token})
    assert caught.value.detail == "not authorized"
    kept = {"client-cert": "x"}
    assert host.finalize_credential(cloud, "certificate", kept) == ("certificate", kept)


def test_a_refusal_that_is_nested_without_end(server: Server) -> None:
    server.refusal = "[" * 60_000
    server.asked.append({"type": "client", "name": "pushjuju", "password": server.token()})
    with pytest.raises(CredentialInvalid, match="it was used already, or has expired"):
        trust.trusted(server.endpoint, server.token())


def test_another_server_is_told_nothing(server: Server) -> None:
    with pytest.raises(CredentialInvalid, match="is not the server that issued the trust token"):
        trust.trusted(server.endpoint, server.token("0" * 64))
    assert server.asked == []


@pytest.mark.parametrize("token", ["", "x", "bm90IGpzb24=", "W10=", "e30=", "W1tb" * 30_000])
def test_what_is_no_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(NotValid) as caught:
        trust.trusted("https://127.0.0.1:1", token)
    assert caught.value.message == "the text is not a trust token of LXD"


def test_a_server_that_is_not_there_is_told(server: Server) -> None:
    token = server.token()
    for endpoint in ("", "/var/lib/lxd/unix.socket", "http://127.0.0.1:1"):
        with pytest.raises(NotValid, match="https endpoint"):
            trust.trusted(endpoint, token)
    with pytest.raises(ProviderError, match=r"the LXD server https://127\.0\.0\.1:1 does not answer"):
        trust.trusted("https://127.0.0.1:1", token)


def test_the_key_is_a_files_only_for_its_owner(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """And for no longer than the request."""
    seen = []
    load = ssl.SSLContext.load_cert_chain

    def watched(self: ssl.SSLContext, path: Path) -> None:
        seen.append((path, stat.S_IMODE(path.stat().st_mode)))
        load(self, path)

    token = server.token()
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", watched)
    trust.trusted(server.endpoint, token)
    ((path, mode),) = seen
    assert (mode, path.exists()) == (0o600, False)
