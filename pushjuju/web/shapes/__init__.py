"""Params and results of facades: params are dataclasses, results TypedDicts with the keys of the wire."""
