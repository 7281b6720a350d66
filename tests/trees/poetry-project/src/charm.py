#!/usr/bin/env python3
"""Does nothing."""
