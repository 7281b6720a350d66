-- Words for completion: each statement uses an index, and has a limit where it may return many rows.

-- name: complete_model
SELECT owner || '/' || name FROM model UNION SELECT name FROM model ORDER BY 1 LIMIT 500

-- name: complete_application
SELECT name FROM application WHERE model = :model ORDER BY name LIMIT 500

-- name: complete_unit
SELECT name FROM unit WHERE model = :model ORDER BY application, number LIMIT 2000

-- name: complete_leader
SELECT DISTINCT application || '/leader' FROM unit WHERE model = :model ORDER BY 1 LIMIT 500

-- name: complete_machine
SELECT id FROM machine WHERE model = :model LIMIT 2000

-- name: complete_relation
SELECT id, key FROM relation WHERE model = :model ORDER BY id LIMIT 500

-- name: complete_storage
SELECT id, owner FROM storage_instance WHERE model = :model LIMIT 500

-- name: complete_pool
SELECT name FROM storage_pool WHERE model = :model LIMIT 500

-- name: complete_secret
-- The model's own secrets can be given by name or by id.
SELECT label, 'secret:' || id FROM secret WHERE model = :model AND owner_kind = 'model' AND label <> ''
UNION ALL SELECT 'secret:' || id, label FROM secret WHERE model = :model LIMIT 500

-- name: complete_backend
SELECT name FROM secret_backend LIMIT 500

-- name: complete_target
SELECT name FROM notify_target LIMIT 500

-- name: complete_user
SELECT 'admin' UNION SELECT name FROM person UNION SELECT person FROM access LIMIT 500

-- name: complete_space
SELECT 'alpha' UNION ALL SELECT name FROM space WHERE model = :model LIMIT 500

-- name: complete_subnet
SELECT cidr FROM subnet WHERE model = :model LIMIT 500

-- name: complete_keys
SELECT value FROM model_config WHERE model = :model AND key = 'authorized-keys'

-- name: complete_track
SELECT DISTINCT track, application FROM application_origin WHERE model = :model AND track <> '' LIMIT 500

-- name: complete_store_charm
SELECT DISTINCT c.name FROM charm c WHERE c.model = :model AND c.url LIKE 'ch:%' LIMIT 500

-- name: complete_offer
SELECT name, application FROM offer WHERE model = :model LIMIT 500

-- name: complete_offer_url
SELECT m.owner || '/' || m.name || '.' || o.name, o.application FROM offer o JOIN model m ON m.uuid = o.model
LIMIT 500

-- name: complete_saas
SELECT name, url FROM remote_application WHERE model = :model AND url <> '' LIMIT 500

-- name: complete_operation
SELECT id, summary FROM action_operation WHERE model = :model ORDER BY id DESC LIMIT 50

-- name: complete_task
SELECT id, action || ' ' || receiver FROM task WHERE model = :model ORDER BY id DESC LIMIT 50

-- name: complete_open_task
SELECT id, action || ' ' || receiver FROM task
WHERE model = :model AND status IN ('pending', 'running') ORDER BY id DESC LIMIT 50

-- name: complete_decided
-- The newest operations, and older operations that failed.
WITH newest AS (
  SELECT id, unit, outcome, prepared FROM operation
  WHERE model = :model AND unit <> '' AND state <> 'planned' ORDER BY prepared DESC, id LIMIT 1000)
SELECT id, unit FROM newest
WHERE id IN (SELECT id FROM newest ORDER BY prepared DESC, id LIMIT 40)
  OR outcome IN ('failed', 'terminated', 'error')
ORDER BY prepared DESC, id LIMIT 100

-- name: complete_charms
SELECT a.name, c.document FROM application a JOIN charm c ON c.model = a.model AND c.url = a.charm_url
WHERE a.model = :model LIMIT 200

-- name: complete_charm_of
SELECT a.name, c.document FROM application a JOIN charm c ON c.model = a.model AND c.url = a.charm_url
WHERE a.model = :model AND a.name = :application

-- name: complete_model_uuid
SELECT uuid FROM model WHERE owner = :owner AND name = :name
