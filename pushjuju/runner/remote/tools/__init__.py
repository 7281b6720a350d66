"""The programs behind hook tools and juju-exec, and what one call of a hook tool can read and write."""
