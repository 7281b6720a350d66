-- name: unit_get
-- rows: unit(model, name)
SELECT * FROM unit WHERE model = :model AND name = :name

-- name: unit_place
-- rows: unit(model, name)
SELECT machine, application FROM unit WHERE model = :model AND name = :name

-- name: unit_version
SELECT version FROM workload_version WHERE model = :model AND unit = :name

-- name: unit_versions
SELECT unit, version FROM workload_version WHERE model = :model

-- name: unit_set_version
INSERT INTO workload_version (model, unit, application, version, since)
VALUES (:model, :unit, :application, :version, :since)
ON CONFLICT (model, unit) DO UPDATE SET version = :version, since = :since

-- name: unit_list
SELECT * FROM unit WHERE model = :model ORDER BY application, number

-- name: unit_of_application
SELECT * FROM unit WHERE model = :model AND application = :application ORDER BY number

-- name: application_machines
-- A row for each unit, with NULL for a unit without machine, in the order of the application's index: otherwise
-- SQLite reads all machines of the model.
SELECT machine FROM unit WHERE model = :model AND application = :application ORDER BY number

-- name: unit_on_machine
SELECT * FROM unit WHERE model = :model AND machine = :machine ORDER BY application, number

-- name: unit_dues
-- When the next retry and the next update-status on a machine are due.
SELECT min(retry_due) AS retry, min(update_status_due) AS routine FROM unit
WHERE model = :model AND machine = :machine

-- name: unit_seats
SELECT model, name, application FROM unit WHERE model = :model AND machine = :machine ORDER BY application, number

-- name: unit_of_principal
SELECT * FROM unit WHERE model = :model AND principal = :principal ORDER BY application, number

-- name: unit_lives_of_principal
SELECT name, life FROM unit WHERE model = :model AND principal = :principal ORDER BY application, number

-- name: unit_set_life
-- rows: unit(model, name)
UPDATE unit SET life = :life WHERE model = :model AND name = :name

-- name: unit_set_forced
-- rows: unit(model, name)
UPDATE unit SET forced = 1 WHERE model = :model AND name = :name

-- name: unit_set_charm
-- rows: unit(model, name)
UPDATE unit SET charm_url = :charm_url WHERE model = :model AND name = :name

-- name: unit_set_charm_gone
-- rows: unit(model, name)
UPDATE unit SET charm_gone = :gone WHERE model = :model AND name = :name AND charm_gone <> :gone

-- name: unit_set_resolved
-- rows: unit(model, name)
UPDATE unit SET resolved = :resolved WHERE model = :model AND name = :name

-- name: unit_set_turn
-- rows: unit(model, name)
-- What a turn of a unit changes, in one write.
UPDATE unit SET state = :state, decision = :decision,
  update_status_version = :update_status_version, update_status_due = :update_status_due
WHERE model = :model AND name = :name

-- name: unit_set_retry
-- rows: unit(model, name)
UPDATE unit SET retry_version = :version, retry_count = :count, retry_due = :due
WHERE model = :model AND name = :name

-- name: unit_update_status_now
-- rows: unit(model, name)
UPDATE unit SET update_status_due = :due WHERE model = :model AND name = :name

-- name: units_with_update_status
-- Units for which update-status has a due time.
SELECT name, machine FROM unit
WHERE model = :model AND life = 'alive' AND update_status_due IS NOT NULL ORDER BY application, number

-- name: units_update_status_now
UPDATE unit SET update_status_due = :due
WHERE model = :model AND life = 'alive' AND update_status_due IS NOT NULL

-- name: unit_restart_update_status
-- After a change of the interval, the wait for update-status starts again; the hook does not run now.
UPDATE unit SET update_status_due = NULL WHERE model = :model

-- name: unit_delete
-- rows: unit(model, name)
DELETE FROM unit WHERE model = :model AND name = :name

-- name: charm_state_list
-- rows: charm_state(model, unit)
SELECT key, value FROM charm_state WHERE model = :model AND unit = :unit ORDER BY key

-- name: charm_state_get
-- rows: charm_state(model, unit)
SELECT value FROM charm_state WHERE model = :model AND unit = :unit AND key = :key

-- name: charm_state_size
-- rows: charm_state(model, unit)
-- In bytes: two digits of `hex` are one byte.
SELECT count(*) AS keys, coalesce(sum(length(hex(key)) / 2 + length(hex(value)) / 2), 0) AS bytes FROM charm_state WHERE model = :model AND unit = :unit

-- name: charm_state_set
-- rows: charm_state(model, unit)
INSERT INTO charm_state (model, unit, key, value) VALUES (:model, :unit, :key, :value)
ON CONFLICT (model, unit, key) DO UPDATE SET value = :value

-- name: charm_state_delete
-- rows: charm_state(model, unit)
DELETE FROM charm_state WHERE model = :model AND unit = :unit AND key = :key

-- name: port_of_unit
-- rows: port(model, unit)
SELECT * FROM port WHERE model = :model AND unit = :unit ORDER BY protocol, from_port, to_port, endpoint

-- name: port_on_machine
-- A cross join keeps the order of the tables: from the machine's units to their ports.
SELECT p.* FROM unit u CROSS JOIN port p
WHERE u.model = :model AND u.machine = :machine AND p.model = u.model AND p.unit = u.name
ORDER BY p.unit, p.protocol, p.from_port

-- name: port_list
SELECT * FROM port WHERE model = :model ORDER BY unit, protocol, from_port, to_port, endpoint

-- name: port_delete
-- rows: port(model, unit)
DELETE FROM port WHERE model = :model AND unit = :unit AND endpoint = :endpoint AND protocol = :protocol
  AND from_port = :from_port AND to_port = :to_port

-- name: operation_open
SELECT * FROM operation WHERE model = :model AND machine = :machine AND state = 'prepared' ORDER BY prepared

-- name: operation_get
-- rows: operation(id)
SELECT * FROM operation WHERE id = :id

-- name: operation_commit
-- rows: operation(id)
-- A result is committed once: a second commit of the same id changes no row.
UPDATE operation SET state = 'committed', outcome = :outcome, result = :result, committed = :now
WHERE id = :id AND state = 'prepared'

-- name: operation_promote
-- rows: operation(id)
UPDATE operation SET state = 'prepared', decided = :decided WHERE id = :id AND state = 'planned'

-- name: operation_drop
-- rows: operation(id)
DELETE FROM operation WHERE id = :id AND state = 'planned'

-- name: operation_set_events
-- rows: operation(id)
UPDATE operation SET events = :events WHERE id = :id

-- name: operation_of_unit
SELECT * FROM operation WHERE model = :model AND unit = :unit ORDER BY prepared DESC LIMIT :limit

-- name: operation_delete_unit
DELETE FROM operation WHERE model = :model AND unit = :unit

-- name: operation_delete_machine
DELETE FROM operation WHERE model = :model AND machine = :machine

-- name: operation_batch
SELECT committed FROM operation WHERE model = :model AND committed > :after AND committed < :before
ORDER BY committed LIMIT 1 OFFSET :batch

-- name: operation_prune
DELETE FROM operation WHERE model = :model AND committed > :after AND committed <= :last

-- name: operation_prune_routine
-- Failed operations, and the newest 50 of each unit, stay until `operation_prune`.
DELETE FROM operation WHERE model = :model AND committed > :after AND committed <= :last
  AND outcome NOT IN ('failed', 'terminated', 'error') AND prepared < (
    SELECT newer.prepared FROM operation AS newer
    WHERE newer.model = operation.model AND newer.unit = operation.unit
    ORDER BY newer.prepared DESC LIMIT 1 OFFSET 49)
