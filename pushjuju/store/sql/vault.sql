-- name: vault_list
SELECT name, version FROM vault ORDER BY name
