"""Models made of the rows of another model: a fleet at rest without the hours that deploying it takes.

Copied is what a model is now: machines, units, relations, states, keys of work. What it has been (operations,
history, log) is not. Only for stores in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pushjuju.store.postgres import address
from tests.world.wire import WireCloud

# One statement for each table that has the model in a column, or in its key.
_STATEMENTS = """
SELECT format(
  'INSERT INTO %%I (%%s) SELECT %%s FROM %%I WHERE %%s LIKE %%L ON CONFLICT DO NOTHING', table_name,
  string_agg(quote_ident(column_name), ', '),
  string_agg(
    CASE data_type WHEN 'text'
    THEN format('replace(%%I, %%L, %%L)', column_name, %(old)s::text, %(new)s::text)
    ELSE quote_ident(column_name) END, ', '),
  table_name, CASE table_name WHEN 'work' THEN 'key' WHEN 'sequence' THEN 'scope' ELSE 'model' END,
  '%%' || %(old)s::text || '%%')
FROM information_schema.columns
WHERE table_schema = current_schema AND table_name NOT IN ('operation', 'contact', 'change', 'written')
GROUP BY table_name
HAVING bool_and(is_identity = 'NO')
  AND bool_or(column_name = 'model' OR table_name IN ('work', 'sequence'))"""
_INSTANCES = "UPDATE machine SET instance_id = 'i-' || substr(instance_id, 3)::int + %s WHERE model = %s"


def copy(url: str, source: str, targets: Sequence[str], cloud: WireCloud) -> None:
    """Give new models the rows of another one, and machines of their own with the same addresses.

    Args:
        url: The store, for a role that may switch off the checks of references.
        source: The UUID of the model.
    """
    machines = list(cloud.played_machines.values())
    with address.connected(address.parsed(url)) as link:
        link.execute("SET session_replication_role = replica")  # tables are filled in any order
        for number, target in enumerate(targets, 1):
            for (statement,) in link.execute(_STATEMENTS, {"old": source, "new": target}).fetchall():
                link.execute(statement)
            link.execute(_INSTANCES, (number * len(machines), target))
            for played in machines:
                more = replace(played, results=set(), loud=set(), charms=dict(played.charms))
                cloud.played_machines[f"i-{played.number + number * len(machines)}"] = more
        link.execute("ANALYZE")
