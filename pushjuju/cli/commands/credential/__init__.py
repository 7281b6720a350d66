"""Credentials for clouds."""
