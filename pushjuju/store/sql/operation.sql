-- name: operation_by_start
-- Ids are hex digits and hyphens: all of them sort before 'g'.
SELECT * FROM operation WHERE id >= :start AND id < :start || 'g' ORDER BY id LIMIT 3

-- name: operations_newest
-- The operations of units that ended last, by the index of their ends.
SELECT * FROM operation WHERE model = :model AND committed IS NOT NULL AND unit <> '' AND name <> :but
ORDER BY committed DESC LIMIT :most

-- name: operations_by_hour
-- The newest that ended before a time, counted by hour; no more are read than :most.
SELECT substr(committed, 1, 13) AS hour, COUNT(*) AS runs,
  SUM(CASE WHEN outcome IN ('failed', 'terminated', 'error') THEN 1 ELSE 0 END) AS failed
FROM (
  SELECT committed, outcome FROM operation
  WHERE model = :model AND committed < :before AND unit <> '' AND name <> :but
  ORDER BY committed DESC LIMIT :most
) AS earlier
GROUP BY 1 ORDER BY 1

-- name: operations_under_way
SELECT * FROM operation WHERE model = :model AND state IN ('prepared', 'planned')

-- name: operations_of_application
-- The newest of all units of an application: their index alone tells since when.
SELECT * FROM operation
WHERE model = :model AND unit IN (SELECT name FROM unit WHERE model = :model AND application = :application)
  AND prepared >= COALESCE((
    SELECT prepared FROM operation
    WHERE model = :model AND unit IN (SELECT name FROM unit WHERE model = :model AND application = :application)
    ORDER BY prepared DESC LIMIT 1 OFFSET :most - 1), '')
ORDER BY prepared DESC LIMIT :most

-- name: operation_history
-- Newest first, by the index; `name` and `failed` select among the operations when they are set.
SELECT * FROM operation WHERE model = :model AND unit = :unit AND prepared >= :since AND (:until = '' OR prepared <= :until)
  AND (:name = '' OR name = :name) AND (:failed = 0 OR outcome IN ('failed', 'terminated', 'error'))
ORDER BY prepared DESC LIMIT :most

-- name: operations_of_cause
-- The operations of units that followed a request, newest first, by the index of requests.
SELECT * FROM operation WHERE model = :model AND cause = :cause AND cause <> '' AND unit <> '' ORDER BY prepared DESC LIMIT :most

-- name: operations_by_cause
-- How many operations of units followed each request since one, by the index of requests.
SELECT cause, COUNT(*) AS runs, SUM(CASE WHEN outcome IN ('failed', 'terminated', 'error') THEN 1 ELSE 0 END) AS failed
FROM operation WHERE model = :model AND cause >= :since AND cause <> '' AND unit <> '' GROUP BY cause

-- name: contact_add
-- The end of a contact with a machine that is still there.
INSERT INTO contact (model, machine, begun, ended, result)
SELECT model, id, :begun, :ended, :result FROM machine WHERE model = :model AND id = :machine

-- name: contacts_between
-- The contacts with machines that lasted into a time, newest first, by the index of their ends.
SELECT machine, begun, ended, result FROM contact WHERE model = :model AND ended >= :since AND begun <= :until
ORDER BY ended DESC LIMIT :most

-- name: contact_batch
SELECT ended FROM contact WHERE model = :model AND ended > :after AND ended < :before ORDER BY ended LIMIT 1 OFFSET :batch

-- name: contact_prune
DELETE FROM contact WHERE model = :model AND ended > :after AND ended <= :last

-- name: contact_delete_machine
DELETE FROM contact WHERE model = :model AND machine = :machine
