-- name: action_operation_get
SELECT * FROM action_operation WHERE model = :model AND id = :id

-- name: action_operation_count
SELECT count(*) FROM action_operation WHERE model = :model

-- name: action_operation_list
SELECT * FROM action_operation WHERE model = :model ORDER BY id LIMIT :limit OFFSET :offset

-- name: action_operation_set_fail
UPDATE action_operation SET fail = :fail WHERE model = :model AND id = :id

-- name: action_operation_batch
SELECT enqueued FROM action_operation WHERE model = :model AND enqueued > :after AND enqueued < :before
ORDER BY enqueued LIMIT 1 OFFSET :batch

-- name: action_operation_prune
-- Also deletes the tasks and their log lines; operations that have not ended stay, however old.
DELETE FROM action_operation WHERE model = :model AND enqueued > :after AND enqueued <= :last AND NOT EXISTS (
  SELECT 1 FROM task WHERE task.model = action_operation.model AND task.operation = action_operation.id
    AND task.completed IS NULL)

-- name: task_get
SELECT * FROM task WHERE model = :model AND id = :id

-- name: task_list
SELECT * FROM task WHERE model = :model ORDER BY id

-- name: task_of_operations
SELECT * FROM task WHERE model = :model AND operation BETWEEN :first AND :last ORDER BY id

-- name: task_open
-- The tasks of a receiver that have not ended, oldest first.
SELECT * FROM task WHERE model = :model AND kind = :kind AND receiver = :receiver
  AND status IN ('pending', 'running', 'aborting') ORDER BY id

-- name: task_pending
SELECT * FROM task WHERE model = :model AND receiver = :receiver AND kind = :kind AND status = 'pending'
ORDER BY id

-- name: unit_with_tasks
SELECT name FROM unit WHERE model = :model AND machine = :machine AND EXISTS (
  SELECT 1 FROM task WHERE task.model = unit.model AND receiver = unit.name AND kind = 'unit'
  AND status = 'pending')

-- name: task_start
UPDATE task SET status = 'running', started = :now WHERE model = :model AND id = :id AND status = 'pending'

-- name: task_abort
UPDATE task SET status = 'aborting' WHERE model = :model AND id = :id AND status = 'running'

-- name: task_finish
-- A task ends once.
UPDATE task SET status = :status, message = :message, results = :results, completed = :now
WHERE model = :model AND id = :id AND completed IS NULL

-- name: task_log_add
INSERT INTO task_log (model, task, time, message) VALUES (:model, :task, :time, :message)

-- name: task_log_list
SELECT * FROM task_log WHERE model = :model AND task = :task AND id > :after ORDER BY id

-- name: payload_of_unit
SELECT * FROM payload WHERE model = :model AND unit = :unit ORDER BY payload_class, id

-- name: payload_of_model
SELECT p.unit, p.payload_class, p.type, p.id, p.labels, p.status, u.machine FROM payload p
JOIN unit u ON u.model = p.model AND u.name = p.unit WHERE p.model = :model

-- name: payload_set
INSERT INTO payload (model, unit, payload_class, type, id, labels, status)
VALUES (:model, :unit, :payload_class, :type, :id, :labels, :status)
ON CONFLICT (model, unit, payload_class, id) DO UPDATE SET type = :type, labels = :labels, status = :status

-- name: payload_set_status
UPDATE payload SET status = :status WHERE model = :model AND unit = :unit AND payload_class = :payload_class AND id = :id

-- name: payload_delete
DELETE FROM payload WHERE model = :model AND unit = :unit AND payload_class = :payload_class AND id = :id
