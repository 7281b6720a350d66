"""A hook, end to end over a real sshd."""

from __future__ import annotations

from .conftest import Machine, hook_op, lines, logs


async def test_hook_runs_once_with_its_tools_in_one_round_trip(machine: Machine) -> None:
    machine.write_charm(
        config_changed="""
        echo "title $(config-get title)"
        echo oops >&2
        state-set a=1
        echo "state $(state-get a)"
        juju-log hello
        status-set active ready
        echo run >> runs
        """
    )
    machine.options["event_delay"] = 60  # on a busy machine events would go ahead in frames of their own
    async with machine.session() as session:
        op = hook_op("config-changed")
        result = await session.run(op)
        assert result["outcome"] == "ok", result
        assert (session.frames_out, session.frames_in) == (1, 1)
    assert lines(result, "stdout") == ["title blå", "state 1"]
    assert lines(result, "stderr") == ["oops"]
    assert result["writes"]["state"] == {"a": "1"}
    assert result["via"] == "hook"
    assert 'ran "config-changed" hook (via explicit, bespoke hook script)' in logs(result)
    assert (machine.charm() / "runs").read_text() == "run\n"
