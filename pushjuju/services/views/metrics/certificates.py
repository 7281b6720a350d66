"""Reads certificates for metrics; in a module of its own, which loads much and which few controllers need."""

from __future__ import annotations

from pathlib import Path

from cryptography import x509


def end_of(path: Path) -> float:
    """Return when a certificate ends, in seconds since the epoch."""
    return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc.timestamp()
