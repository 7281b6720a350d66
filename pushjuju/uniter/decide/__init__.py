"""The next step of a unit: a pure function of what the unit remembers and what the model wants.

Imports core and the standard library only. No I/O, clock, chance or logging. The entry is `loop.decide`:

    state       LocalState: what the unit remembers, one JSON document; hooks and steps
    remote      RemoteState: what the model wants, a full snapshot
    decision    Decision, Operation, Effect: what is to be done
    loop        decide(local, remote)
    reconcile   what to set right in the model before the decision
    naming      names of hooks as users read them
    timing      waiting times; chance comes in as a number
    wire        JSON; decisions kept, and decided again

`pushjuju.uniter.state.operation` holds the state transitions of the operations.
"""
