"""How much the controller accepts from a machine.

The runner on a machine enforces smaller limits, with error texts for charms. An attacker who controls the
machine can switch those off. So the controller checks everything that it receives against these limits.
"""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

# --- a frame ----------------------------------------------------------------------------------------------

FRAME_MARKS = 3_000_000  # brackets, commas and colons of a frame: 10 MiB of short log lines have so many
FRAME_WIDE = 16 * MIB  # bytes of a frame that is not ASCII: each character may take four bytes in memory
DEPTH = 64  # nesting levels of lists and maps

# --- messages without use: nothing of their content is kept ------------------------------------------------

FRAME_COST = 256  # bytes that are counted for a frame in addition to its text
PAYS_FOR = 6  # bytes of a frame that each kept byte justifies: JSON writes a control character in 6
WASTE = 64 * MIB  # useless bytes from a machine before the controller stops reading from it for a while
WASTE_EACH_S = 64 * KIB  # useless bytes that are forgiven each second
WASTE_CPU = 2.0  # seconds of processor time that useless messages may take
WASTE_CPU_EACH_S = 0.005  # seconds of that time that are forgiven each second
DRIBBLE = 1 * KIB  # bytes: a smaller piece of a frame counts as 4 KiB of waste
PACKETS = 10_000  # useless SSH packets after which a connection is cut
PACKET_OF_KEYS = 50  # a packet that makes us compute keys or a signature counts as so many packets
PACKETS_EACH_S = 10  # packets that are forgiven each second
LARGE = 64 * KIB  # bytes of a frame from which on the controller measures how much of the frame it keeps

# --- a contact --------------------------------------------------------------------------------------------

NAME = 256  # characters of host names, ids, words: the most that a file system and DNS take
BOOT_TEXT = 64 * KIB  # bytes of one answer while the runner starts
DEVICES = 1000  # network devices of a machine, and addresses of all its devices
SUBNETS = 1000  # subnets of a model that its machines report
NAMED_UNITS = 1000  # units whose files a machine reports
PARTS = 1000  # partly received files that a machine reports
DIGEST = 64  # characters in the name of such a file, a SHA-256
KEPT = 128 * MIB  # bytes of memory for all that the controller keeps of one contact
JOURNAL = 10_000  # operations that a machine reports from its journal
BLOBS = 100_000  # files in the blob store that a machine reports
REQUESTS = 1000  # requests of juju-exec that wait at the same time
SCRIPT_OUTPUT = 1 * MIB  # characters that a plain script of a provider may print on each stream
SCRIPT = 2 * MIB  # characters of one request of juju-exec: a longer script cannot be passed to a program
SCRIPTS = 32 * MIB  # characters of all waiting requests: four times what the runner lets wait
LIVE_CALLS = 8 * MIB  # characters of one operation's hook tool calls that wait for the controller at once
LIVE_WORD = 32  # characters that are counted for each word of such a call in addition to its text
LIVE_AT_ONCE = 4  # hook tool calls of one operation that the controller answers at the same time
LIVE_CPU = 5.0  # seconds of processor time for answers to one machine, after which the answers are delayed
LIVE_CPU_EACH_S = 0.1  # seconds of that time that are forgiven each second
RESTARTS = 5  # times in a row that a machine may restart a transfer
LOSSES = 10  # times in a row that a machine may close the connection without progress

# --- what an operation reports ----------------------------------------------------------------------------

EVENTS = 64 * MIB  # bytes of memory for its messages: 2 MiB of output, 8 MiB of log, and reserve
EVENT_COST = 256  # bytes that are counted for a message in addition to its text
EVENT_NUMBER = EVENTS // EVENT_COST  # the highest number of a message
TEXT_AT_ONCE = 1 * MIB  # bytes of messages in one transaction
EVENTS_AT_ONCE = 500  # messages in one transaction, so that other processes can write in between
OUTPUT_LINES = 20_000  # lines of an action's output that go into the log; the results of the action hold all
MESSAGE = 128 * KIB  # characters of one log line, status, version: the longest argument that Linux passes
OUTPUT = 6 * MIB  # characters of standard output and of standard error; 4 MiB of odd bytes in base64
ACTION_RESULTS = 16 * MIB  # characters of an action's results as JSON: the most that Juju's database takes

# --- a machine that builds a charm ------------------------------------------------------------------------

BUILT = 512 * MIB  # bytes that one build command may send: the charm's files, packed, are the largest

# --- what the model keeps of a unit -----------------------------------------------------------------------

STATE = 2 * MIB  # bytes of charm state when the controller's max-charm-state-size sets no limit
AGENT_STATE = 512 * KIB  # bytes of a unit's own state, when max-agent-state-size sets no limit
UNIT_STATE = 16 * MIB  # bytes of either state, whatever the controller's settings are
STATE_TRAVELS = 128 * KIB  # bytes of charm state that go along with each hook; a larger state is requested
STATE_KEY = 256  # bytes
STATE_OVERHEAD = 8  # bytes that Juju's encoding adds to each key and its value
SETTINGS = STATE // 8  # keys that one hook writes into its state or into one relation's settings
RELATIONS = 10_000  # relations that one hook writes into
STATE_VALUE = 64 * KIB  # bytes of one value of the state
BAG = 2 * MIB  # bytes of one relation's settings, and of an application's leader settings
UNITS = 10_000  # units that one add-unit adds
PORTS = 1000  # port ranges of one unit, multiplied by endpoints
PAYLOADS = 1000  # payloads that one unit registers
SECRETS = 1000  # secrets that one unit or one application owns
SECRET = 1_000_000  # bytes of a secret's content in base64, and of each of its values

# --- what the firewall accepts from a machine -------------------------------------------------------------

MATES = 64  # addresses of one machine that the firewalls of the model's other machines let in
PEERS = 8  # latest addresses of controllers that a machine's firewall keeps letting in
