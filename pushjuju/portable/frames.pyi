"""The messages between controller and machine, and between processes of a machine, as types.

The module is for type checkers alone: no program imports it, and machines do not get it. A type says how
a message is built; `runner.trust` still checks each message that a machine sends.
"""

from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union

Kind = Literal["hook", "action", "commands", "exec", "deploy", "remove-unit", "reboot"]

# --- from the controller ----------------------------------------------------------------------------------

class Lease(TypedDict):
    """The number of the lease with which a controller process works on a machine; `of` is the model."""

    of: str
    number: int

class _Op(TypedDict):
    t: Literal["op"]
    id: str
    kind: Kind

class Op(_Op, total=False):
    """An operation.

    `after` is the id of the operation before it in a plan; with `then`, another one follows. `tail` shows the
    last output line; `timed` asks for the times of hook tools; `request` is the juju-exec request that it
    answers; `if_boot_id` the boot it may run in; `user` the user that runs a plain command, or root where
    this user is missing.
    """

    unit: str
    argv: List[str]
    script: str
    user: str
    env: Dict[str, str]
    context: Dict[str, Any]
    logging: str
    lock: str
    lease: Lease
    after: str
    then: bool
    tail: bool
    timed: bool
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
    """A message without content: `beat` keeps the connection alive, `facts` asks for the machine's facts."""

    t: Literal["beat", "facts"]

class OfOperation(TypedDict):
    """The controller fetches, or acknowledges, the result of an operation."""

    t: Literal["fetch", "ack"]
    id: str

class Cancel(TypedDict):
    """The controller interrupts an operation with a signal, given by name."""

    t: Literal["cancel"]
    id: str
    signal: str

class Answer(TypedDict):
    """The controller refuses a request of juju-exec."""

    t: Literal["answer"]
    request: str
    error: str

class Put(TypedDict):
    """The controller sends a blob, beginning at an offset."""

    t: Literal["put"]
    sha256: str
    size: int
    offset: int

Copy = TypedDict("Copy", {"t": Literal["copy"], "sha256": str, "from": str, "offset": int, "length": int})
"""The next piece of a blob is a copy of a piece of another blob, `from`."""

Output = TypedDict(
    "Output",
    {"stdout": str, "stdout-encoding": str, "stderr": str, "stderr-encoding": str},
    total=False,
)
"""The output of a program, and its encoding when it is not UTF-8."""

class Told(Output):
    """The answer to a live call, as the operation's process gets it."""

    call: int
    rc: int

class LiveResult(Told):
    """The answer to a live call, as the controller sends it."""

    t: Literal["live-result"]
    id: str

ToMachine = Union[Op, Bare, OfOperation, Cancel, Answer, Put, Copy, LiveResult]

# --- from the machine -------------------------------------------------------------------------------------

class Event(TypedDict, total=False):
    """An event of an operation: `log`, `output`, `status`, `action-log` or `version`."""

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
    """An event with its sequence number."""

    seq: int
    e: Event

class Events(TypedDict, total=False):
    """Events of an operation; `tail` is an output line that is shown but not kept."""

    t: Literal["event"]
    id: str
    seq: int
    es: List[Numbered]
    tail: str

_Stdin = TypedDict("_Stdin", {"stdin": str, "stdin-encoding": str}, total=False)

class LiveCall(_Stdin, total=False):
    """A call of a hook tool that the controller must answer."""

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
    """The results and the failure that an action set."""

    failed: bool
    message: str
    results: Dict[str, Any]

class Writes(TypedDict, total=False):
    """The changes that a hook makes to the model."""

    status_set: bool
    reboot: str
    relations: Dict[str, Dict[str, Dict[str, Optional[str]]]]
    ports: Ports
    state: Dict[str, Optional[str]]
    storage: Dict[str, int]
    secrets: Dict[str, Any]
    action: ActionSaid

Timed = TypedDict("Timed", {"calls": List[Tuple[str, int, int, int]], "more": int})
"""Calls of hook tools: name, microseconds since the operation began, length in microseconds, exit code."""

class _Result(TypedDict):
    outcome: str
    writes: Writes

class Result(_Result, Output, total=False):
    """The outcome of an operation; `lease` is the newest lease that the machine knows."""

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
    timed: Timed

class ResultFrame(Result):
    """The result of an operation, as the machine sends it."""

    t: Literal["result"]
    id: str
    events: List[Numbered]

class Refused(TypedDict, total=False):
    """The machine refuses a message of the controller."""

    t: Literal["error"]
    id: Optional[str]
    message: str

class Stored(TypedDict, total=False):
    """The outcome of a blob's transfer."""

    t: Literal["ok", "put-error"]
    sha256: str
    restart: bool
    message: str
    errno: Optional[int]

Known = TypedDict("Known", {"id": str, "done": bool})
"""An operation whose result the controller has not acknowledged."""

Recalled = TypedDict("Recalled", {"id": str, "unit": str, "name": str})
"""A hook, an action or commands of a unit that the machine has begun."""

Address = TypedDict("Address", {"value": str, "cidr": str})
"""An address of a network device, with its network."""

class Nic(TypedDict, total=False):
    """A network device."""

    name: str
    mac: str
    up: bool
    addresses: List[Address]
    mtu: int
    parent: str

class Network(TypedDict):
    """The facts that may change while a machine is attached."""

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
    """The facts of a machine at the start of a contact; a runner of an older program sends no `charms`."""

    charms: List[str]
    requests: List[Request]
    recalled: List[Recalled]
    crash: str

class Asked(TypedDict, total=False):
    """A live call after the controller has checked it."""

    id: str
    call: int
    tool: str
    argv: List[str]
    cwd: str
    stdin: bytes

class Requests(TypedDict):
    """New requests of juju-exec."""

    t: Literal["requests"]
    requests: List[Request]

FromMachine = Union[Events, LiveCall, ResultFrame, Refused, Stored, Requests, Dict[str, Any]]
"""The `Dict` is for the facts of a machine."""

class _Setting(TypedDict):
    lock: str
    options: Dict[str, Any]
    boot_id: str

class Quiet(TypedDict, total=False):
    """The status that the charm set last, which the next operation of a plan takes over."""

    status: Optional[Dict[str, str]]

class Setting(_Setting, Quiet):
    """The settings with which the server starts the process of an operation."""

class Begun(TypedDict, total=False):
    """The first line of an operation's journal."""

    id: str
    kind: str
    unit: str
    hook: str
    action: str
    url: str
    request: str
    boot_id: str
    started: float
    lock: str
    host: int
    program: str
    via: str

Child = TypedDict("Child", {"pid": int, "start": str}, total=False)
"""The process that does the work, and its start time: process ids are used again."""

Stop = TypedDict("Stop", {"signal": int})
"""The server tells the process of an operation to send a signal to its hook."""

class Orphan(TypedDict):
    """The process of the operation `host` has lost its server and looks for a new server."""

    host: str
    pid: int
    unsaved: bool
