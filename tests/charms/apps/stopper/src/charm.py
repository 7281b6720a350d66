"""Says its title. A debugger may stop it at its hook, or at the breakpoint that has a name."""

import ops


class Stopper(ops.CharmBase):
    """One title."""

    def __init__(self, framework):
        super().__init__(framework)
        framework.observe(self.on.config_changed, self._say)

    def _say(self, _event):
        title = self.config["title"]
        self.framework.breakpoint("title")
        self.unit.status = ops.ActiveStatus(title)


if __name__ == "__main__":
    ops.main(Stopper)
