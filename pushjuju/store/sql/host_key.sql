-- name: host_key_of
SELECT key, accepted FROM host_key WHERE model = :model AND name = :name ORDER BY key

-- name: host_key_all
SELECT model, name, key, accepted FROM host_key ORDER BY model, name, key

-- name: host_key_add
INSERT INTO host_key (model, name, key, accepted) VALUES (:model, :name, :key, :accepted)
ON CONFLICT (model, name, key) DO UPDATE SET accepted = excluded.accepted

-- name: host_key_remove
DELETE FROM host_key WHERE model = :model AND name = :name

-- name: host_key_clear
DELETE FROM host_key WHERE model = :model
