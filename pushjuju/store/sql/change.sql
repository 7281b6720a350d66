-- What has changed: triggers write the rows (migration 23). The numbers of one model are in the order of its
-- commits. In PostgreSQL, a transaction of another model may commit a later number first.

-- name: change_newest
SELECT MAX(number) AS number FROM change

-- name: change_newest_of
SELECT MAX(number) AS number FROM change WHERE model = :model

-- name: change_oldest
SELECT MIN(number) AS number FROM change

-- name: change_after
SELECT model, kind, entity, MAX(number) AS number FROM change WHERE number > :after
GROUP BY model, kind, entity
