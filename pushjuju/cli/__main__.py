"""`python -m pushjuju.cli` is `pushjuju`."""

from pushjuju.cli.main import main

main()
