"""`python -m pushjuju.cli` is `pushjuju`."""

from pushjuju.cli.entry import main

main()
