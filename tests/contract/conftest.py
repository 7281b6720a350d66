"""Machines for the contract tests."""

from pushjuju.testing.machines import local_cloud  # noqa: F401
