"""The hook tool of a plugin: the documented example."""

from pushjuju.runner.remote.toolkit import SMART, Flag, Tool, usage_error


def _weather(ctx, args):
    place = args.take()
    if not place:
        raise usage_error("no place specified")
    return {"unit": ctx.unit, "place": place, "loud": args["loud"]}


TOOLS = {
    "weather-get": Tool(
        "weather-get",
        _weather,
        usage="<place>",
        summary="Tell the weather.",
        flags=[Flag("loud", help="Louder", boolean=True)],
        formats=SMART,
    ),
}
