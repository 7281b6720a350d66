"""A small family of hook tools for the tests of the runner; it runs on the machine."""

from pushjuju.runner.remote.toolkit import Tool


def _get(ctx, args):
    return str(ctx.context["config"].get(args.take(), ""))


def _set(ctx, args):
    key, _, value = args.take().partition("=")
    ctx.pending("state")[key] = value


def _state(ctx, args):
    return ctx.pending("state").get(args.take(), "")


def _log(ctx, args):
    ctx.emit({"k": "log", "level": "INFO", "module": "unit.web/0.juju-log", "message": args.take()})


def _status(ctx, args):
    ctx.writes["status_set"] = True
    ctx.emit({"k": "status", "scope": "unit", "status": args.take(), "message": args.take()})


def _stdin(ctx, args):
    return ctx.read_input("-").decode("utf-8", "surrogateescape")


def _live(ctx, args):
    return ctx.ask("probe-live", args.positional and [args.take()]).decode()


def _reboot(ctx, args):
    ctx.writes["reboot"] = args.take() or "after"


def _boom(ctx, args):
    raise KeyError("a bug in a tool")


def _cwd(ctx, args):
    return ctx.cwd


TOOLS = {
    name: Tool(name, run, summary="A probe.")
    for name, run in {
        "config-get": _get,
        "state-set": _set,
        "state-get": _state,
        "juju-log": _log,
        "status-set": _status,
        "juju-reboot": _reboot,
        "probe-stdin": _stdin,
        "probe-live": _live,
        "probe-boom": _boom,
        "probe-cwd": _cwd,
    }.items()
}
