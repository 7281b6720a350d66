-- Statements of `status`, with only the columns that are shown: each reads all rows of a model, or one entity.

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

-- name: machines_down
SELECT COUNT(*) FROM machine WHERE model = :model AND unreachable_since <= :lost
