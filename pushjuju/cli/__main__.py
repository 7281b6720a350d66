"""Runs the command line for `python -m pushjuju.cli`."""

from pushjuju.cli.entry import main

main()
