"""What a unit does next, and how it is done: decide, prepare, run, commit.

 `resolver` and `operation` are pure; `snapshot` and `hookcontext` read; `reconcile`, `prepare`
and `commit` write.
"""
