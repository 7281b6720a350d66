"""How much is taken from a machine, whatever it says.

Machines keep the smaller of these limits by themselves, with texts for charms; a machine that an attacker
controls does not. So the controller counts again, on all that comes in.
"""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

# --- a frame ----------------------------------------------------------------------------------------------

FRAME_MARKS = 3_000_000  # brackets, commas and colons of one frame: what 10 MiB of shortest log lines come to
FRAME_WIDE = 16 * MIB  # bytes of a frame that is not ASCII: in memory each of its characters may take four
DEPTH = 64  # lists and maps within each other

# --- what brings nothing ----------------------------------------------------------------------------------

FRAME_COST = 256  # bytes that a frame counts beside its text
PAYS_FOR = 6  # bytes of a frame that each byte kept of it pays for: a control character takes so many
WASTE = 64 * MIB  # bytes that a machine may say in vain before it is not listened to for a while
WASTE_EACH_S = 64 * KIB  # of them, forgiven each second
WASTE_CPU = 2.0  # seconds of processor time that it may take in vain
WASTE_CPU_EACH_S = 0.005  # of them, forgiven each second
DRIBBLE = 1 * KIB  # bytes of a piece of a frame below which it counts four times as much as waste
PACKETS = 10_000  # packets of SSH that bring nothing, before a connection is cut
PACKET_OF_KEYS = 50  # as many of them count one that makes us calculate keys or a signature
PACKETS_EACH_S = 10  # of them, forgiven each second
LARGE = 64 * KIB  # bytes of a frame from which on it is weighed what is kept of it

# --- a contact --------------------------------------------------------------------------------------------

NAME = 256  # characters of host names, ids, words: what a file system and DNS take
BOOT_TEXT = 64 * KIB  # bytes of one answer while the program starts
DEVICES = 1000  # network devices, and addresses of all of them
SUBNETS = 1000  # subnets of a model that machines have addresses in
NAMED_UNITS = 1000  # units that a machine says it has files of
PARTS = 1000  # files that it says it has begun to receive
DIGEST = 64  # characters of the name of such a file
KEPT = 128 * MIB  # bytes of memory that all that is kept of a contact may take
JOURNAL = 10_000  # operations that a machine says it knows
BLOBS = 100_000  # files that a machine says it has
REQUESTS = 1000  # requests of juju-exec that wait at once
SCRIPT_OUTPUT = 1 * MIB  # characters that a plain script of a provider may print on each stream
SCRIPT = 2 * MIB  # characters of such a request: more cannot be passed to a program
SCRIPTS = 32 * MIB  # characters of all of them: four times what machines let wait
LIVE_CALLS = 8 * MIB  # characters of one operation's hook tool calls that wait for the controller at once
LIVE_WORD = 32  # characters that each of their words costs beside its text
LIVE_AT_ONCE = 4  # of them that are being answered
LIVE_CPU = 5.0  # seconds of processor time of the answers to one machine before they are slowed down
LIVE_CPU_EACH_S = 0.1  # of them, given back each second
RESTARTS = 5  # times in a row that a machine may ask to begin a transfer anew
LOSSES = 10  # times in a row that it may hang up without a new word about what it is to do

# --- what an operation says -------------------------------------------------------------------------------

EVENTS = 64 * MIB  # bytes of memory of all its messages: 2 MiB of output, 8 MiB of log, modules, and room
EVENT_COST = 256  # bytes that a message costs beside its text
EVENT_NUMBER = EVENTS // EVENT_COST  # so no message has a higher number
TEXT_AT_ONCE = 1 * MIB  # bytes of memory of such messages
EVENTS_AT_ONCE = 500  # messages that are taken into the model in one transaction: others write in between
OUTPUT_LINES = 20_000  # lines of an action's output that go into the log; its results hold all of it
MESSAGE = 128 * KIB  # characters of one log line, status, version: the longest argument that Linux passes
OUTPUT = 6 * MIB  # characters of standard output and of standard error; 4 MiB of odd bytes in base64
ACTION_RESULTS = 16 * MIB  # characters of an action's results as JSON: the largest record of Juju's database

# --- a machine that builds a charm ------------------------------------------------------------------------

BUILT = 512 * MIB  # bytes that one command there may send: the largest are the charm's files, packed

# --- what a unit keeps in the model -----------------------------------------------------------------------

STATE = 2 * MIB  # bytes of charm state where the controller's max-charm-state-size says nothing
AGENT_STATE = 512 * KIB  # bytes of what a unit remembers of its own, the same of max-agent-state-size
UNIT_STATE = 16 * MIB  # bytes that each of both may have whatever these settings say
STATE_TRAVELS = 128 * KIB  # bytes of charm state up to which each hook takes it along; beyond, tools ask
STATE_KEY = 256  # bytes
STATE_OVERHEAD = 8  # bytes that Juju's encoding adds to each key with its value
SETTINGS = STATE // 8  # keys that a hook writes into its state, and into a bag
RELATIONS = 10_000  # relations that it writes into
STATE_VALUE = 64 * KIB  # bytes
BAG = 2 * MIB  # bytes of one bag of a relation, and of an application's leader settings
UNITS = 10_000  # that one command adds
PORTS = 1000  # port ranges of one unit, times endpoints
PAYLOADS = 1000  # payloads of one unit
SECRETS = 1000  # secrets of one unit, and of one application
SECRET = 1_000_000  # bytes of a secret's content in base64, and of any of its values

# --- what the firewall takes from a machine ---------------------------------------------------------------

MATES = 64  # addresses of one machine that the others let in
PEERS = 8  # addresses from which controllers reached it that keep their way in, the latest ones
