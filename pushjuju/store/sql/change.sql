-- What has changed, in the order of the commits: triggers write the rows (migration 23).

-- name: change_newest
SELECT MAX(number) AS number FROM change

-- name: change_oldest
SELECT MIN(number) AS number FROM change

-- name: change_after
SELECT DISTINCT model, kind, entity FROM change WHERE number > :after
