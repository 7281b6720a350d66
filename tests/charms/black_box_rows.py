"""What hook tools refuse, and in which words: the rows of errors that test_black_box.py asks for."""

from __future__ import annotations

Rows = list[tuple[str, int, str]]

# command, exit code, what stands behind `ERROR `
COMMON = [
    ("relation-ids --colour", 2, "option provided but not defined: --colour"),
    ("relation-ids -x", 2, "option provided but not defined: -x"),
    ("relation-list -r", 2, "option needs an argument: -r"),
    ("relation-list --relation", 2, "option needs an argument: --relation"),
    ("config-get --format v", 2, 'invalid value "v" for option --format: unknown format "v"'),
    ("goal-state --format smart", 2, 'invalid value "smart" for option --format: unknown format "smart"'),
    (
        "relation-get --app=v",
        2,
        'invalid value "v" for option --app: strconv.ParseBool: parsing "v": invalid syntax',
    ),
    ("is-leader a b", 2, 'unrecognized args: ["a" "b"]'),
    ("relation-set -r 2 x", 2, 'expected "key=value", got "x"'),
    ("relation-set -r 2 =v", 2, 'expected "key=value", got "=v"'),
    ("relation-set -r 2 x=1 x=2", 2, 'key "x" specified more than once'),
    (
        "echo 'a: [1]' | relation-set -r 2 --file -",
        1,
        "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into string",
    ),
    (
        "echo 'one = two' | relation-set -r 2 --file -",
        1,
        "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `one = two` into map[string]string",
    ),
    ("relation-set -r 2 --file /nowhere", 1, "open /nowhere: no such file or directory"),
    ("relation-list -r x", 2, 'invalid value "x" for option -r: invalid relation id'),
    ("relation-list -r 99", 2, 'invalid value "99" for option -r: relation not found'),
    ("relation-list --relation 99", 2, 'invalid value "99" for option --relation: relation not found'),
    ("relation-list -r ring:99", 2, 'invalid value "ring:99" for option -r: relation not found'),
    ("relation-get - far/0", 2, "no relation id specified"),
    ("relation-set a=b", 2, "no relation id specified"),
    ("relation-list", 2, "no relation id specified"),
    ("relation-model-get", 2, "no relation id specified"),
    ("relation-ids", 2, "no endpoint name specified"),
    ("relation-get -r 2 - far", 2, 'expected unit name, got application name "far"'),
    ("relation-get -r 2 - 'x!'", 2, 'invalid unit name "x!"'),
    ("relation-get -r 2 --app", 2, "no unit or application specified"),
    ("relation-get -r 2", 2, "no unit or application specified"),
    (
        "relation-get -r 2 - far/9",
        1,
        (
            'cannot read settings for unit "far/9" in relation "near:down far:up": '
            'unit "far/9": settings not found'
        ),
    ),
    ("relation-get -r 2 - below/0", 1, "permission denied"),
    ("relation-get -r 2 --app - below", 1, "permission denied"),
    ("config-get --all word", 2, 'cannot use argument --all together with key "word"'),
    ("status-set", 2, "invalid args, require <status> [message]"),
    (
        "status-set foo",
        2,
        'invalid status "foo", expected one of [maintenance blocked waiting active]',
    ),
    (
        "status-set Active",
        2,
        'invalid status "Active", expected one of [maintenance blocked waiting active]',
    ),
    ("status-set active a b", 2, 'unrecognized args: ["b"]'),
    ("application-version-set", 2, "no version specified"),
    ("leader-get a=b", 2, 'invalid key "a=b"'),
    ("open-port", 2, "no port or range specified"),
    ("open-port x", 2, 'invalid port "x": strconv.Atoi: parsing "x": invalid syntax'),
    ("open-port 1-2-3", 2, 'invalid port range "1-2-3"'),
    ("open-port 9-1", 2, "invalid port range 9-1/tcp"),
    ("open-port 70000", 2, "port range bounds must be between 0 and 65535, got 70000-70000"),
    ("open-port 80/sctp", 2, 'invalid protocol "sctp", expected "tcp", "udp", or "icmp"'),
    ("close-port 80/icmp", 2, 'protocol "icmp" doesn\'t support any ports; got "80"'),
    ("unit-get", 2, "no setting specified"),
    ("unit-get colour", 2, 'unknown setting "colour"'),
    ("network-get", 2, "no arguments specified"),
    ("network-get ''", 2, "no binding name specified"),
    ("network-get x", 1, 'no network config found for binding "x"'),
    (
        "network-get down --primary-address --bind-address",
        1,
        "--primary-address must be the only flag specified",
    ),
    ("network-get down -r 99", 2, 'invalid value "99" for option -r: relation not found'),
    ("juju-log", 2, "no message specified"),
    ("juju-reboot now", 2, 'unrecognized args: ["now"]'),
    ("credential-get", 1, "cannot access cloud credentials: permission denied"),
    ("payload-register docker web", 2, "missing required arguments"),
    ("payload-register docker db 1", 1, 'payload "db" not found in metadata.yaml'),
    ("payload-register kvm web 1", 1, 'incorrect type "kvm" for payload "web", expected "docker"'),
    (
        "payload-status-set web 1 gone",
        1,
        'status "gone" not supported; expected one of ["running", "starting", "stopped", "stopping"]',
    ),
    ("add-metric", 2, "no metrics specified"),
    ("add-metric k=", 2, 'invalid metrics: expected "key=value", got "k="'),
    ("add-metric -l x k=1", 2, 'invalid labels: expected "key=value", got "x"'),
    ("add-metric k=1", 1, "cannot record metric: metrics not allowed in this context"),
    ("env -u JUJU_CONTEXT_ID config-get", 1, "JUJU_CONTEXT_ID not set"),
    (
        "JUJU_CONTEXT_ID=near/0-other config-get",
        1,
        'bad request: wrong context ID; got "near/0-other"',
    ),
    (
        'ln -s "$(command -v config-get)" /tmp/no-tool && /tmp/no-tool; rc=$?; rm /tmp/no-tool; exit $rc',
        1,
        "bad request: unknown command: no-tool",
    ),
]
NO_ACTION = [
    ("action-get", 1, "not running an action"),
    ("action-set a=1", 1, "not running an action"),
    ("action-fail", 1, "not running an action"),
    ("action-log a", 1, "not running an action"),
]
_SEGMENT = (
    'key "{}" must start and end with lowercase alphanumeric, '
    "and contain only lowercase alphanumeric, hyphens and periods"
)
IN_ACTION = [
    ("action-set x", 2, 'argument "x" must be of the form key...=value'),
    ("action-set X=1", 2, _SEGMENT.format("X")),
    ("action-set a.-b=1", 2, _SEGMENT.format("-b")),
    ("action-set stdout=1", 2, 'cannot set reserved action key "stdout"'),
    ("action-set a.stderr-encoding=1", 2, 'cannot set reserved action key "stderr-encoding"'),
    ("action-log", 2, "no message specified"),
    ("juju-reboot", 1, "juju-reboot is not supported when running an action."),
    ("juju-reboot --now", 1, "juju-reboot is not supported when running an action."),
]
NOT_LEADER = [
    ("relation-set -r 2 --app a=b", 1, "cannot write relation settings"),
    ("relation-set -r 0 --app a=b", 1, "cannot write relation settings"),
    ("relation-get -r 2 --app - near", 1, "permission denied"),
    ("status-get --application", 1, "finding application status: this unit is not the leader"),
    ("status-set --application active", 1, "this unit is not the leader"),
    ("leader-set a=b", 1, "cannot write leadership settings: cannot write settings: not the leader"),
]
