"""Documents to text: pure functions over plain dicts, apart from the commands that fetch them.

No services, no streams, no time of their own.
"""
