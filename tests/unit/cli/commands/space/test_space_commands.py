"""What the commands about spaces refuse before they look at anything."""

from __future__ import annotations

import pytest

from tests.world.commandline import Run

BAD = "ERROR invalid arguments specified: "


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("add-space", f"{BAD}space name is required"),
        ("add-space Big", f'{BAD}"Big" is not a valid space name'),
        ("add-space a--b", f'{BAD}"a--b" is not a valid space name'),
        ("add-space db 10.0.0.0", f'{BAD}"10.0.0.0" is not a valid CIDR'),
        ("add-space db 10.0.0.0/33", f'{BAD}"10.0.0.0/33" is not a valid CIDR'),
        ("add-space db nonsense/8", f'{BAD}"nonsense/8" is not a valid CIDR'),
        ("add-space db 10.0.0.0/8 10.0.0.0/8", f'{BAD}duplicate subnet "10.0.0.0/8" specified'),
        ("add-space db 10.0.0.0/8 10.1.0.0/8", f'{BAD}subnet "10.1.0.0/8" overlaps with "10.0.0.0/8"'),
        ("move-to-space db", f"{BAD}CIDRs required but not provided"),
        ("rename-space", f"{BAD}old-name is required"),
        ("rename-space db", f"{BAD}new-name is required"),
        ("rename-space db db", f"{BAD}old-name and new-name are the same"),
        ("rename-space db D", f'{BAD}"D" is not a valid space name'),
        ("remove-space", f"{BAD}space name is required"),
        ("show-space", "ERROR expected exactly 1 space name, got 0 arguments"),
        ("subnets --space D", 'ERROR "D" is not a valid space name'),
        ("bind", "ERROR no application specified"),
        ("bind web a=b=c", "ERROR --bind must be in the form"),
    ],
)
def test_odd_words_are_refused(run: Run, words: str, text: str) -> None:
    ended = run(*words.split())
    assert ended.status in (1, 2)
    assert ended.err.startswith(text), ended.err


def test_an_empty_model_has_alpha(run: Run) -> None:
    assert run("bootstrap", "local", "here").status == 0
    assert run("add-model", "m").status == 0
    assert (
        run("spaces").out == "Name \tSpace ID\tSubnets\nalpha\t0       \t       \n     \t        \t       \n"
    )
    assert run("spaces", "--short").out == "Space\nalpha\n"
    assert run("spaces", "--format", "json").out == '{"spaces":[{"id":"0","name":"alpha","subnets":{}}]}\n'
    shown = '{"space":{"id":"0","name":"alpha","subnets":[]},"applications":[],"machine-count":0}\n'
    assert run("show-space", "alpha", "--format", "json").out == shown
    assert run("subnets").err == "No subnets to display.\n"
    ended = run("add-space", "db", "10.0.0.0/8")
    assert (ended.status, ended.err.splitlines()[0]) == (
        1,
        'ERROR cannot add space "db": subnet "10.0.0.0/8" not found',
    )
    assert run("add-space", "db").err == 'added space "db" with no subnets\n'
    assert run("rename-space", "db", "--rename", "sql").err == 'renamed space "db" to "sql"\n'
    assert run("remove-space", "sql").err == 'removed space "sql"\n'
    assert run("remove-space", "alpha").err.startswith('ERROR cannot remove space "alpha": the "alpha" space')


def test_the_default_space_is_one_that_is_there(run: Run) -> None:
    assert run("bootstrap", "local", "here").status == 0
    assert run("add-model", "m").status == 0
    refused = run("model-config", "default-space=nowhere")
    assert (refused.status, refused.err) == (1, 'ERROR space "nowhere" not found\n')
    assert run("model-config", "default-space").out == "\n"
    assert run("model-config", "default-space=alpha").status == 0


def test_firewall_rules_keep_the_order_of_their_keys(run: Run) -> None:
    assert run("bootstrap", "local", "here").status == 0
    assert run("add-model", "m").status == 0
    rules = '[{"known-service":"ssh","allowlist-subnets":["0.0.0.0/0","::/0"]},'
    assert run("firewall-rules", "--format", "json").out.startswith(rules)
