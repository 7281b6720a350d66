"""Documents to text: pure functions over plain dicts, apart from the commands that fetch them.

Layer: cli. No services, no streams, no time of their own.
"""
