-- name: status_get
-- rows: status(model, entity, kind)
SELECT * FROM status WHERE model = :model AND kind = :kind AND entity = :entity

-- name: status_list
SELECT * FROM status WHERE model = :model

-- name: status_of_kind
SELECT entity, status, message FROM status WHERE model = :model AND kind = :kind

-- name: statuses_of_kind
SELECT * FROM status WHERE model = :model AND kind = :kind

-- name: units_in_error
-- Units in error are few and have an index of their own.
SELECT * FROM status WHERE model = :model AND kind = 'juju-unit' AND status = 'error' ORDER BY entity

-- name: units_blocked
SELECT 1 AS found FROM status WHERE model = :model AND kind = 'workload' AND status = 'blocked' LIMIT 1

-- name: status_of_units
-- The workload statuses of an application. A cross join keeps the order of the tables: units, then statuses.
SELECT s.* FROM unit u CROSS JOIN status s
WHERE u.model = :model AND u.application = :application
  AND s.model = u.model AND s.kind = 'workload' AND s.entity = u.name

-- name: agent_errors_of_application
SELECT s.* FROM unit u CROSS JOIN status s
WHERE u.model = :model AND u.application = :application
  AND s.model = u.model AND s.kind = 'juju-unit' AND s.entity = u.name AND s.status = 'error'

-- name: status_set
-- rows: status(model, entity, kind)
INSERT INTO status (model, kind, entity, status, message, data, since)
VALUES (:model, :kind, :entity, :status, :message, :data, :since)
ON CONFLICT (model, kind, entity) DO UPDATE SET
  status = :status, message = :message, data = :data, since = :since

-- name: status_delete
-- rows: status(model, entity, kind)
DELETE FROM status WHERE model = :model AND entity = :entity AND kind = :kind

-- name: history_newest
-- rows: status_history(model, entity)
SELECT id FROM status_history WHERE model = :model AND kind = :kind AND entity = :entity ORDER BY id DESC LIMIT 1

-- name: history_add
-- rows: status_history(model, entity)
INSERT INTO status_history (model, kind, entity, status, message, data, since)
VALUES (:model, :kind, :entity, :status, :message, :data, :since)

-- name: history_move
-- rows: status_history(model, entity)
UPDATE status_history SET since = :since WHERE id = :id AND model = :model AND entity = :entity

-- name: history_list
-- `since || ''` keeps SQLite from an index on times, by which it would walk through the whole model's history.
SELECT * FROM (
  SELECT * FROM status_history
  WHERE model = :model AND entity = :entity AND kind IN (:kind, :other) AND since || '' >= :since
  ORDER BY since || '' DESC, id DESC LIMIT :limit
) AS newest ORDER BY since, id

-- name: history_delete
-- rows: status_history(model, entity)
DELETE FROM status_history WHERE model = :model AND entity = :entity AND kind = :kind

-- name: history_batch
SELECT since FROM status_history WHERE model = :model AND since > :after AND since < :before
ORDER BY since LIMIT 1 OFFSET :batch

-- name: history_prune
-- The newest entry of each entity is kept, however old.
DELETE FROM status_history WHERE model = :model AND since > :after AND since <= :last AND EXISTS (
  SELECT 1 FROM status_history AS newer
  WHERE newer.model = status_history.model AND newer.entity = status_history.entity
    AND newer.kind = status_history.kind AND newer.id > status_history.id)

-- name: log_prune
-- Deletes the oldest lines in batches; the newest line stays, so that no id is used twice.
DELETE FROM log WHERE time < :before AND id IN (
  SELECT id FROM log WHERE model = :model
    AND id <= :last AND id < (SELECT MAX(id) FROM log WHERE model = :model)
  ORDER BY id LIMIT :batch)

-- name: log_letters
-- The average size of a line, from the newest lines.
SELECT AVG(60 + LENGTH(entity) + LENGTH(module) + LENGTH(location) + LENGTH(labels) + LENGTH(message)) AS letters
FROM (SELECT * FROM log WHERE model = :model ORDER BY id DESC LIMIT 500) AS newest

-- name: log_nth_newest
SELECT id FROM log WHERE model = :model ORDER BY id DESC LIMIT 1 OFFSET :most

-- name: log_add
INSERT INTO log (model, time, entity, level, module, location, labels, message)
VALUES (:model, :time, :entity, :level, :module, :location, :labels, :message)

-- name: log_after
-- Levels and entities are lists like `,a,b,`; an empty text means all.
SELECT * FROM log WHERE model = :model AND id > :after
  AND (:levels = '' OR instr(:levels, ',' || level || ',') > 0)
  AND (:entities = '' OR instr(:entities, ',' || entity || ',') > 0)
ORDER BY id LIMIT :limit

-- name: log_before
SELECT * FROM log WHERE model = :model AND id < :before
  AND (:levels = '' OR instr(:levels, ',' || level || ',') > 0)
  AND (:entities = '' OR instr(:entities, ',' || entity || ',') > 0)
ORDER BY id DESC LIMIT :limit

-- name: log_has
SELECT 1 AS found FROM log WHERE model = :model AND entity >= :first AND entity <= :last LIMIT 1

-- name: log_newest
SELECT COALESCE(MAX(id), 0) AS id FROM log WHERE model = :model
