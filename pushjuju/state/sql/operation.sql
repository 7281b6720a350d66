-- name: unit_decision
SELECT decision FROM unit WHERE model = :model AND name = :name

-- name: decided_put
INSERT INTO decided (operation, model, unit, kept, record)
VALUES (:operation, :model, :unit, :kept, :record)
ON CONFLICT (operation) DO UPDATE SET record = :record, kept = :kept

-- name: decided_trim
-- Only the newest of a unit are kept.
DELETE FROM decided WHERE model = :model AND unit = :unit AND kept < (
  SELECT MIN(kept) FROM (
    SELECT kept FROM decided WHERE model = :model AND unit = :unit ORDER BY kept DESC LIMIT :most))

-- name: decided_get
SELECT record FROM decided WHERE operation = :operation

-- name: operation_newest
SELECT id FROM operation WHERE model = :model AND unit = :unit ORDER BY prepared DESC LIMIT 1

-- name: operation_by_start
-- Ids are hex digits and hyphens: all of them sort before 'g'.
SELECT * FROM operation WHERE id >= :start AND id < :start || 'g' ORDER BY id LIMIT 3

-- name: operation_history
-- Newest first, along the index; `name` and `failed` choose among them when they are given.
SELECT * FROM operation WHERE model = :model AND unit = :unit AND prepared >= :since
  AND (:name = '' OR name = :name) AND (:failed = 0 OR outcome IN ('failed', 'terminated', 'error'))
ORDER BY prepared DESC LIMIT :most
