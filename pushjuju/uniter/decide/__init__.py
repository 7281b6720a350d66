"""Decides a unit's next step: a pure function of what the unit remembers and what the model wants.

Imports core and the standard library only: no I/O, clock, random numbers or logging. The entry is `decide`:

    state       LocalState: what the unit remembers, one JSON document; hooks and steps
    remote      RemoteState: what the model wants, a full snapshot
    decision    Decision, Operation, Effect: what the unit does next
    loop        decide(local, remote)
    reconcile   what to update in the model before the decision
    naming      names of hooks as users read them
    timing      waiting times, from random numbers that the caller draws
    wire        decisions as JSON, and repeated from JSON

`pushjuju.uniter.state.operation` holds the state transitions of the operations.
"""
