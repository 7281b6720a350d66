"""Machines that bare computers make are removed like all others."""

from pushjuju.testing.machines import local_cloud  # noqa: F401
