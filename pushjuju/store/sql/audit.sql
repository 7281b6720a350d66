-- The audit log: `services/entities/basis/audit.py` writes the lines.

-- name: audit_begin
SELECT
  (SELECT MAX(number) FROM change) AS newest,
  (SELECT MAX(number) FROM audit) AS number,
  (SELECT hash FROM audit ORDER BY number DESC LIMIT 1) AS hash,
  (SELECT owner || '/' || name FROM model WHERE uuid = :model) AS model_name

-- name: audit_model_name
SELECT owner || '/' || name AS name FROM model WHERE uuid = :model

-- name: audit_secret_name
SELECT label FROM secret WHERE model = :model AND id = :id

-- name: audit_space_name
SELECT name FROM space WHERE model = :model AND id = :id

-- name: audit_offer_name
SELECT name FROM offer WHERE uuid = :id

-- name: audit_before
SELECT number, time, line, previous, hash FROM audit
WHERE number < :before AND time >= :since AND time < :until ORDER BY number DESC LIMIT :batch

-- name: audit_after
SELECT number, time, line, previous, hash FROM audit WHERE number > :after ORDER BY number LIMIT :batch

-- name: audit_last_older
SELECT number, time, line, previous, hash FROM audit WHERE time < :before ORDER BY time DESC, number DESC LIMIT 1

-- name: audit_prune
DELETE FROM audit WHERE number <= :number
