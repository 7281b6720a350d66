-- Statements of `status`, with only the columns that are shown: each reads all rows of a model, those of a part of it, or
-- one entity. The part is an application with its units and their machines, or a machine with its containers.

-- name: shown_machines
SELECT id, life, base, constraints, instance_id, display_name, hostname, hardware, addresses, ssh,
  unreachable_since, created
FROM machine WHERE model = :model

-- name: shown_applications
SELECT name, charm_url, life, subordinate, base, exposed, workload_version FROM application WHERE model = :model

-- name: shown_charms
SELECT url, name, document FROM charm WHERE model = :model AND url IN (
  SELECT charm_url FROM application WHERE model = :model)

-- name: shown_units
SELECT name, application, machine, principal, life, charm_url FROM unit
WHERE model = :model ORDER BY application, number

-- name: shown_statuses
SELECT kind, entity, status, message, data, since FROM status WHERE model = :model AND kind <> 'relation'

-- name: shown_versions_of
-- The version of the workload of each unit, the newest last; empty for a unit that has never set one.
SELECT u.name, COALESCE(w.version, '') AS version FROM unit u
LEFT JOIN workload_version w ON w.model = u.model AND w.unit = u.name
WHERE u.model = :model AND u.application = :application ORDER BY COALESCE(w.since, u.created), u.number

-- name: shown_ports
SELECT DISTINCT unit, protocol, from_port, to_port FROM port
WHERE model = :model ORDER BY unit, protocol, from_port, to_port

-- name: shown_sides
SELECT e.relation, e.application, e.endpoint, e.interface, r.scope, e.role
FROM relation_endpoint e JOIN relation r ON r.model = e.model AND r.id = e.relation
WHERE e.model = :model ORDER BY e.relation, e.application, e.endpoint

-- name: shown_relation_statuses
SELECT entity, status, message, data, since FROM status WHERE model = :model AND kind = 'relation'

-- name: shown_machine
-- rows: machine(model, id)
SELECT id, life, base, constraints, instance_id, display_name, hostname, hardware, addresses, ssh,
  unreachable_since, created
FROM machine WHERE model = :model AND id = :id

-- name: shown_application
-- rows: application(model, name)
SELECT name, charm_url, life, subordinate, base, exposed, workload_version FROM application
WHERE model = :model AND name = :name

-- name: shown_unit
-- rows: unit(model, name)
SELECT name, application, machine, principal, life, charm_url FROM unit WHERE model = :model AND name = :name

-- name: shown_ports_of
-- rows: port(model, unit)
SELECT DISTINCT unit, protocol, from_port, to_port FROM port
WHERE model = :model AND unit = :unit ORDER BY protocol, from_port, to_port

-- name: shown_units_of
SELECT name, application, machine, principal, life, charm_url FROM unit
WHERE model = :model AND application = :application ORDER BY number

-- name: shown_machines_of
-- `0` is the character after `/`, so the names between the two are those of an application's units. A cross join
-- keeps the order of the tables; otherwise SQLite reads all units of the model.
SELECT m.id, m.life, m.base, m.constraints, m.instance_id, m.display_name, m.hostname, m.hardware, m.addresses, m.ssh,
  m.unreachable_since, m.created
FROM unit u CROSS JOIN machine m
WHERE u.model = :model AND u.name > :application || '/' AND u.name < :application || '0'
  AND m.model = u.model AND m.id = u.machine

-- name: shown_machines_from
SELECT id, life, base, constraints, instance_id, display_name, hostname, hardware, addresses, ssh,
  unreachable_since, created
FROM machine WHERE model = :model AND id >= :machine AND id < :machine || '0'

-- name: shown_statuses_of
SELECT kind, entity, status, message, data, since FROM status
WHERE model = :model AND kind IN ('workload', 'juju-unit')
  AND entity > :application || '/' AND entity < :application || '0'
UNION ALL SELECT s.kind, s.entity, s.status, s.message, s.data, s.since FROM unit u CROSS JOIN status s
WHERE u.model = :model AND u.name > :application || '/' AND u.name < :application || '0'
  AND s.model = u.model AND s.kind IN ('juju-machine', 'machine') AND s.entity = u.machine

-- name: shown_statuses_from
SELECT kind, entity, status, message, data, since FROM status
WHERE model = :model AND kind IN ('juju-machine', 'machine') AND entity >= :machine AND entity < :machine || '0'

-- name: shown_ports_within
SELECT DISTINCT unit, protocol, from_port, to_port FROM port
WHERE model = :model AND unit > :application || '/' AND unit < :application || '0'
ORDER BY unit, protocol, from_port, to_port

-- name: shown_sides_of
SELECT e.relation, e.application, e.endpoint, e.interface, r.scope, e.role
FROM relation_endpoint e JOIN relation r ON r.model = e.model AND r.id = e.relation
WHERE e.model = :model AND e.relation IN (
  SELECT relation FROM relation_endpoint WHERE model = :model AND application = :application)
ORDER BY e.relation, e.application, e.endpoint

-- name: shown_charm_of
SELECT url, name, document FROM charm WHERE model = :model AND url = (
  SELECT charm_url FROM application WHERE model = :model AND name = :application)

-- name: shown_names
SELECT name FROM application WHERE model = :model ORDER BY name

-- name: shown_machines_at
-- This walks through the machines of the model, since few machines are asked for by an address.
SELECT id FROM machine WHERE model = :model
  AND (addresses LIKE '%"' || :address || '"%' OR ssh LIKE '%"' || :address || '"%')

-- name: shown_applications_on
SELECT DISTINCT application FROM unit WHERE model = :model AND machine >= :machine AND machine < :machine || '0'

-- name: shown_neighbours
-- All units on the machines of an application's units with such names.
SELECT DISTINCT other.application, other.machine FROM unit own CROSS JOIN unit other
WHERE own.model = :model AND own.name > :application || '/' AND own.name < :application || '0'
  AND own.name LIKE :like AND other.model = own.model AND other.machine = own.machine

-- name: shown_hosts
-- The machines with the containers of an application's units.
SELECT DISTINCT substr(machine, 1, instr(machine, '/') - 1) AS host FROM unit
WHERE model = :model AND name > :application || '/' AND name < :application || '0' AND machine LIKE '%/%'

-- name: machines_down
SELECT COUNT(*) FROM machine WHERE model = :model AND unreachable_since <= :lost

-- name: shown_leader_of
-- rows: lease(model, application)
SELECT application, holder FROM lease WHERE model = :model AND application = :application

-- name: shown_origin_of
SELECT application, channel, latest_url FROM application_origin
WHERE model = :model AND application = :application

-- name: shown_bindings_of
SELECT application, endpoint, space FROM binding
WHERE model = :model AND application = :application ORDER BY endpoint

-- name: shown_storage_of
SELECT EXISTS (
  SELECT 1 FROM storage_attachment
  WHERE model = :model AND unit > :application || '/' AND unit < :application || '0'
) OR EXISTS (
  SELECT 1 FROM unit AS u CROSS JOIN backing_attachment AS b
  WHERE u.model = :model AND u.application = :application AND b.model = u.model AND b.machine = u.machine
)

-- name: shown_storage_from
SELECT EXISTS (
  SELECT 1 FROM backing_attachment
  WHERE model = :model AND machine >= :machine AND machine < :machine || '0'
)
