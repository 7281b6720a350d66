-- name: operation_by_start
-- Ids are hex digits and hyphens: all of them sort before 'g'.
SELECT * FROM operation WHERE id >= :start AND id < :start || 'g' ORDER BY id LIMIT 3

-- name: operations_newest
-- The operations of units that ended last, by the index of their ends.
SELECT * FROM operation WHERE model = :model AND committed IS NOT NULL AND unit <> '' AND name <> :but
ORDER BY committed DESC LIMIT :most

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
