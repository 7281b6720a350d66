-- name: machine_get
-- rows: machine(model, id)
SELECT * FROM machine WHERE model = :model AND id = :id

-- name: machine_list
SELECT * FROM machine WHERE model = :model ORDER BY id

-- name: machine_containers
-- `0` is the character after `/`.
SELECT * FROM machine WHERE model = :model AND id > :host || '/' AND id < :host || '0'

-- name: machine_set_life
-- rows: machine(model, id)
UPDATE machine SET life = :life WHERE model = :model AND id = :id

-- name: machine_set_forced
-- rows: machine(model, id)
UPDATE machine SET forced = 1 WHERE model = :model AND id = :id

-- name: machine_set_keep
-- rows: machine(model, id)
UPDATE machine SET keep_instance = :keep WHERE model = :model AND id = :id

-- name: machine_set_instance
-- rows: machine(model, id)
UPDATE machine SET provider = :provider, instance_id = :instance_id, display_name = :display_name,
  hardware = :hardware, ssh = :ssh, base = :base, nonce = :nonce, attempts = 0
WHERE model = :model AND id = :id

-- name: machine_forget_instance
-- rows: machine(model, id)
-- The cloud still has the instance, under the machine's id.
UPDATE machine SET instance_id = '', display_name = '', hardware = '{}', ssh = '{}', unreachable_since = NULL,
  last_failed = NULL
WHERE model = :model AND id = :id

-- name: machine_set_facts
-- rows: machine(model, id)
-- Does not set the addresses, since values derived from all machines' addresses are cached until one changes.
UPDATE machine SET hostname = :hostname, boot_id = :boot_id, hardware = :hardware,
  last_seen = :now, unreachable_since = NULL, last_failed = NULL, look_again = 0
WHERE model = :model AND id = :id

-- name: lost_history
SELECT substr(name, 9) AS name, next FROM sequence WHERE scope = '' AND name LIKE 'history-%'

-- name: lost_look
-- Every machine is contacted soon, so that it is asked before anything new happens to its units.
UPDATE machine SET look_again = 1 WHERE last_seen IS NOT NULL

-- name: lost_ask
UPDATE work SET due = :now, generation = generation + 1
WHERE key LIKE '%/machine/%' AND (due IS NULL OR due > :now)

-- name: machine_set_history
-- rows: machine(model, id)
UPDATE machine SET history = :history, lost = :lost WHERE model = :model AND id = :id

-- name: machine_set_seen
-- rows: machine(model, id)
UPDATE machine SET last_seen = :last_seen WHERE model = :model AND id = :id

-- name: machine_set_ssh
-- rows: machine(model, id)
UPDATE machine SET ssh = :ssh WHERE model = :model AND id = :id

-- name: machine_set_attempts
-- rows: machine(model, id)
UPDATE machine SET attempts = :attempts WHERE model = :model AND id = :id

-- name: machine_set_tried
-- rows: machine(model, id)
-- `last_failed` alone, without `unreachable_since`: the machine has never answered.
UPDATE machine SET attempts = :attempts, last_failed = :now WHERE model = :model AND id = :id

-- name: machine_set_unreachable
-- rows: machine(model, id)
UPDATE machine SET unreachable_since = COALESCE(unreachable_since, :now), last_failed = :now
WHERE model = :model AND id = :id

-- name: machine_delete
-- rows: machine(model, id)
DELETE FROM machine WHERE model = :model AND id = :id

-- name: zone_get
SELECT zone, failed FROM machine_zone WHERE model = :model AND machine = :machine

-- name: zone_put
INSERT INTO machine_zone (model, machine, zone, failed) VALUES (:model, :machine, :zone, :failed)
ON CONFLICT (model, machine) DO UPDATE SET zone = excluded.zone, failed = excluded.failed

-- name: zone_count
-- The number of machines of a model in a zone, without one machine.
SELECT COUNT(*) AS machines FROM machine_zone WHERE model = :model AND zone = :zone AND machine <> :machine

-- name: zone_of_application
-- The zones of the machines that have units of an application, without one machine.
SELECT DISTINCT unit.machine AS machine, machine_zone.zone AS zone
FROM unit JOIN machine_zone ON machine_zone.model = unit.model AND machine_zone.machine = unit.machine
WHERE unit.model = :model AND unit.application = :application AND unit.machine <> :machine

-- name: machine_instances
SELECT id, instance_id FROM machine WHERE model = :model
