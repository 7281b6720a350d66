-- name: vault_list
-- digest: of the controller key, in the row of the key alone
SELECT name, version, CASE WHEN name = 'controller key' THEN sealed END AS digest FROM vault ORDER BY name
