-- name: machine_upgrade_get
SELECT * FROM machine_upgrade WHERE model = :model AND machine = :machine

-- name: machine_upgrade_set_status
UPDATE machine_upgrade SET status = :status WHERE model = :model AND machine = :machine

-- name: machine_upgrade_delete
DELETE FROM machine_upgrade WHERE model = :model AND machine = :machine

-- name: machine_upgrade_message_list
SELECT * FROM machine_upgrade_message WHERE model = :model AND machine = :machine AND id > :after ORDER BY id

-- name: machine_upgrade_message_add
INSERT INTO machine_upgrade_message (model, machine, time, message) VALUES (:model, :machine, :time, :message)

-- name: machine_upgrade_message_last
SELECT COALESCE(MAX(id), 0) FROM machine_upgrade_message WHERE model = :model AND machine = :machine

-- name: machine_upgrade_message_delete
DELETE FROM machine_upgrade_message WHERE model = :model AND machine = :machine

-- name: machine_set_base
-- rows: machine(model, id)
UPDATE machine SET base = :base WHERE model = :model AND id = :id

-- name: unit_set_series
-- rows: unit(model, name)
UPDATE unit SET series = :series, series_target = :target WHERE model = :model AND name = :name

-- name: unit_freeze
-- rows: unit(model, name)
-- A unit has no due times while a user upgrades its machine, so that no hook runs there.
UPDATE unit SET update_status_due = NULL, retry_due = NULL, retry_count = 0
WHERE model = :model AND name = :name

-- name: application_in_upgrade
SELECT 1 FROM unit WHERE model = :model AND application = :application AND series <> 'not started' LIMIT 1
