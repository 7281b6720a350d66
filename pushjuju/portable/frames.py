"""The messages of the wire as types: what controller, machine and processes of a machine say to each other.

Types alone: no program on a machine imports this module, and the packer leaves it out. A type says how a
message is built; what a machine says is checked in `runner.trust` all the same.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

Kind = Literal["hook", "action", "commands", "exec", "deploy", "remove-unit", "reboot"]

# --- from the controller ----------------------------------------------------------------------------------


class Lease(TypedDict):
    """Which process of the controller works the machine; `of` is a model."""

    of: str
    number: int


class _Op(TypedDict):
    t: Literal["op"]
    id: str
    kind: Kind


class Op(_Op, total=False):
    """An operation.

    `after` and `then`: its place in a plan; `tail`: the last line that it prints is shown; `request`: the
    request of juju-exec that it answers; `if_boot_id`: the boot in which it may begin.
    """

    unit: str
    argv: List[str]
    script: str
    env: Dict[str, str]
    context: Dict[str, Any]
    logging: str
    lock: str
    lease: Lease
    after: str
    then: bool
    tail: bool
    tools: List[str]
    cwd: str
    paths: List[str]
    hook: str
    action: str
    request: str
    stdin: Optional[str]
    timeout: Optional[float]
    url: str
    sha256: str
    last: bool
    release: bool
    if_boot_id: str


class Bare(TypedDict):
    """A message that says nothing else: `beat`, or the question for `facts`."""

    t: Literal["beat", "facts"]


class OfOperation(TypedDict):
    """An operation's result is fetched, or acknowledged."""

    t: Literal["fetch", "ack"]
    id: str


class Cancel(TypedDict):
    """An operation is interrupted, by a signal of that name."""

    t: Literal["cancel"]
    id: str
    signal: str


class Answer(TypedDict):
    """A request of juju-exec is not run."""

    t: Literal["answer"]
    request: str
    error: str


class Put(TypedDict):
    """A blob follows, from an offset on."""

    t: Literal["put"]
    sha256: str
    size: int
    offset: int


Copy = TypedDict("Copy", {"t": Literal["copy"], "sha256": str, "from": str, "offset": int, "length": int})
"""The next piece of a blob is in another one, `from`."""

Output = TypedDict(
    "Output",
    {"stdout": str, "stdout-encoding": str, "stderr": str, "stderr-encoding": str},
    total=False,
)
"""What a program printed; with its encoding, when that is not UTF-8."""


class Told(Output):
    """The answer of a live call, as the process of the operation gets it."""

    call: int
    rc: int


class LiveResult(Told):
    """The answer of a live call."""

    t: Literal["live-result"]
    id: str


ToMachine = Union[Op, Bare, OfOperation, Cancel, Answer, Put, Copy, LiveResult]

# --- from the machine -------------------------------------------------------------------------------------


class Event(TypedDict, total=False):
    """What an operation says: `log`, `output`, `status`, `action-log` or `version`."""

    k: str
    time: Optional[float]
    level: str
    module: str
    message: str
    stream: str
    line: str
    scope: str
    status: str
    version: str


class Numbered(TypedDict):
    """An event with its number."""

    seq: int
    e: Event


class Events(TypedDict, total=False):
    """Events of an operation; `tail` is a line that is only shown."""

    t: Literal["event"]
    id: str
    seq: int
    es: List[Numbered]
    tail: str


_Stdin = TypedDict("_Stdin", {"stdin": str, "stdin-encoding": str}, total=False)


class LiveCall(_Stdin, total=False):
    """A call of a hook tool that the controller answers."""

    t: Literal["live"]
    id: str
    call: int
    tool: str
    argv: List[str]
    cwd: str


Port = TypedDict("Port", {"endpoint": str, "protocol": str, "from": int, "to": int})


class Ports(TypedDict):
    """Port ranges that a hook opened and closed."""

    open: List[Port]
    close: List[Port]


class ActionSaid(TypedDict, total=False):
    """What an action set."""

    failed: bool
    message: str
    results: Dict[str, Any]


class Writes(TypedDict, total=False):
    """What a hook changes in the model."""

    status_set: bool
    reboot: str
    relations: Dict[str, Dict[str, Dict[str, Optional[str]]]]
    ports: Ports
    state: Dict[str, Optional[str]]
    storage: Dict[str, int]
    secrets: Dict[str, Any]
    action: ActionSaid


class _Result(TypedDict):
    outcome: str
    writes: Writes


class Result(_Result, Output, total=False):
    """How an operation ended; `lease` is the newest one that the machine knows."""

    exit: Optional[int]
    signal: Optional[int]
    via: Optional[str]
    message: str
    reboot: str
    errno: Optional[int]
    code: str
    trace: str
    lease: int
    upgraded: bool
    recovered: bool
    started: Optional[float]
    ended: Optional[float]


class ResultFrame(Result):
    """A result on its way to the controller."""

    t: Literal["result"]
    id: str
    events: List[Numbered]


class Refused(TypedDict, total=False):
    """A message that the machine does not take."""

    t: Literal["error"]
    id: Optional[str]
    message: str


class Stored(TypedDict, total=False):
    """What became of a blob."""

    t: Literal["ok", "put-error"]
    sha256: str
    restart: bool
    message: str
    errno: Optional[int]


class Known(TypedDict):
    """An operation that is not acknowledged."""

    id: str
    done: bool


class Address(TypedDict):
    """An address of a network device, and its network."""

    value: str
    cidr: str


class Nic(TypedDict, total=False):
    """A network device."""

    name: str
    mac: str
    up: bool
    addresses: List[Address]
    mtu: int
    parent: str


class Network(TypedDict):
    """What may change while a machine is attached."""

    hostname: str
    gateway: str
    nics: List[Nic]


class Request(TypedDict, total=False):
    """A request of juju-exec."""

    id: str
    unit: str
    script: str
    relation: Optional[int]
    remote_unit: str
    remote_app: str
    force: bool


class _Hello(Network):
    program: str
    python: str
    arch: str
    boot_id: str
    protocol: int
    pid: int
    cores: int
    mem_mib: int
    os: Dict[str, str]
    journal: List[Known]
    running: List[str]
    units: List[str]
    blobs: List[str]
    parts: Dict[str, int]
    ssh: str


class Hello(_Hello, total=False):
    """The facts of a machine at a contact; a runner of an older program names no `charms`."""

    charms: List[str]
    requests: List[Request]
    crash: str


class Asked(TypedDict, total=False):
    """A live call as the controller has checked it."""

    id: str
    call: int
    tool: str
    argv: List[str]
    cwd: str
    stdin: bytes


class Requests(TypedDict):
    """Requests of juju-exec that are new."""

    t: Literal["requests"]
    requests: List[Request]


FromMachine = Union[Events, LiveCall, ResultFrame, Refused, Stored, Requests, Dict[str, Any]]
"""The last one is for the facts of a machine."""


class _Setting(TypedDict):
    lock: str
    options: Dict[str, Any]
    boot_id: str


class Quiet(TypedDict, total=False):
    """What the next operation of a plan takes over: the status that the charm set last."""

    status: Optional[Dict[str, str]]


class Setting(_Setting, Quiet):
    """How the server starts an operation."""


class Begun(TypedDict, total=False):
    """The first line of a journal."""

    id: str
    kind: str
    unit: str
    hook: str
    url: str
    request: str
    boot_id: str
    started: float
    lock: str
    host: int
    program: str
    via: str


class Child(TypedDict, total=False):
    """The process that does the work, and when it started: numbers of processes come again."""

    pid: int
    start: str


class Stop(TypedDict):
    """The process of an operation is to send that signal to its hook."""

    signal: int


class Orphan(TypedDict):
    """The process of the operation `host` looks for a new server."""

    host: str
    pid: int
    unsaved: bool
