-- name: process_list
SELECT owner, version, started, draining, pools, api FROM process ORDER BY started, owner

-- name: process_get
SELECT owner, version, started, draining, pools, api FROM process WHERE owner = :owner

-- name: process_enlist
INSERT INTO process (owner, version, started, pools, api) VALUES (:owner, :version, :started, :pools, :api) ON CONFLICT (owner) DO NOTHING

-- name: process_forget
DELETE FROM process WHERE owner = :owner

-- name: process_drain
UPDATE process SET draining = 1 WHERE owner = :owner

-- name: process_keys
SELECT owner, COUNT(*) AS keys, MAX(leased_until) AS until FROM work
WHERE owner IS NOT NULL AND leased_until > :now GROUP BY owner ORDER BY owner
