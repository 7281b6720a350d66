"""The subjects that stand for many entities in `touched` of `drive.settle`."""

from __future__ import annotations

EVERY_MACHINE = ("every machine",)
"""Stands for all machines of the model in `touched`."""
