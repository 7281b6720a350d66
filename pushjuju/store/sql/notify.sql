-- name: notify_target_list
SELECT * FROM notify_target ORDER BY name

-- name: notify_target_get
SELECT * FROM notify_target WHERE name = :name

-- name: notify_target_names
SELECT name, events, models FROM notify_target ORDER BY name

-- name: notify_target_seal
UPDATE notify_target SET key = :key, sealed = :sealed WHERE name = :name

-- name: notify_target_state
UPDATE notify_target SET attempts = :attempts, due = :due, error = :error WHERE name = :name

-- name: notify_target_delete
DELETE FROM notify_target WHERE name = :name

-- name: alarm_get
SELECT * FROM alarm WHERE model = :model AND kind = :kind AND entity = :entity AND event = :event

-- name: alarm_set
INSERT INTO alarm (model, kind, entity, event, text, since, due)
VALUES (:model, :kind, :entity, :event, :text, :since, :due)
ON CONFLICT (model, kind, entity, event) DO UPDATE SET text = :text

-- name: alarm_told
UPDATE alarm SET due = NULL WHERE model = :model AND kind = :kind AND entity = :entity AND event = :event

-- name: alarm_delete
DELETE FROM alarm WHERE model = :model AND kind = :kind AND entity = :entity AND event = :event

-- name: alarm_forget
DELETE FROM alarm WHERE model = :model AND kind = :kind AND entity = :entity

-- name: alarm_delete_all
DELETE FROM alarm

-- name: alarm_due
SELECT * FROM alarm WHERE model = :model AND due IS NOT NULL AND due <= :now ORDER BY due

-- name: alarm_next
SELECT MIN(due) FROM alarm WHERE model = :model AND due IS NOT NULL

-- name: notice_last
-- The newest event of an entity for a target.
SELECT * FROM notice
WHERE model = :model AND target = :target AND kind = :kind AND entity = :entity AND event = :event
ORDER BY number DESC LIMIT 1

-- name: notice_drop
DELETE FROM notice WHERE model = :model AND number = :number

-- name: notice_waiting
SELECT * FROM notice WHERE model = :model AND target = :target AND sent IS NULL ORDER BY number LIMIT 100

-- name: notice_next
SELECT target, MIN(due) AS due FROM notice WHERE model = :model AND sent IS NULL GROUP BY target ORDER BY target

-- name: notice_counts
SELECT target, COUNT(*) AS waiting FROM notice WHERE sent IS NULL GROUP BY target ORDER BY target

-- name: notice_sent
UPDATE notice SET sent = :now WHERE model = :model AND number = :number

-- name: notice_prune
DELETE FROM notice WHERE model = :model AND sent IS NOT NULL AND sent < :before

-- name: notice_delete_target
DELETE FROM notice WHERE target = :target

-- name: notice_delete_model
DELETE FROM notice WHERE model = :model
