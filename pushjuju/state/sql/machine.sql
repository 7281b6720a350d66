-- name: machine_get
SELECT * FROM machine WHERE model = :model AND id = :id

-- name: machine_list
SELECT * FROM machine WHERE model = :model ORDER BY id

-- name: machine_set_life
UPDATE machine SET life = :life WHERE model = :model AND id = :id

-- name: machine_set_forced
UPDATE machine SET forced = 1 WHERE model = :model AND id = :id

-- name: machine_set_keep
UPDATE machine SET keep_instance = :keep WHERE model = :model AND id = :id

-- name: machine_set_instance
UPDATE machine SET provider = :provider, instance_id = :instance_id, display_name = :display_name,
  hardware = :hardware, ssh = :ssh, base = :base, nonce = :nonce, attempts = 0
WHERE model = :model AND id = :id

-- name: machine_set_facts
UPDATE machine SET hostname = :hostname, addresses = :addresses, boot_id = :boot_id, hardware = :hardware,
  last_seen = :now, unreachable_since = NULL, last_failed = NULL, look_again = 0
WHERE model = :model AND id = :id

-- name: machine_set_ssh
UPDATE machine SET ssh = :ssh WHERE model = :model AND id = :id

-- name: machine_set_attempts
UPDATE machine SET attempts = :attempts WHERE model = :model AND id = :id

-- name: machine_set_unreachable
UPDATE machine SET unreachable_since = COALESCE(unreachable_since, :now), last_failed = :now
WHERE model = :model AND id = :id

-- name: machine_delete
DELETE FROM machine WHERE model = :model AND id = :id
