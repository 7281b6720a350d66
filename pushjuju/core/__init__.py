"""Values and rules without I/O: names, life, statuses, bases, constraints, placement, errors.

Imports the standard library only; every other room may import it.
"""

from pushjuju.core import moved

moved.install()
