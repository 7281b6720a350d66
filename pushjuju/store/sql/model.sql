-- name: model_by_uuid
SELECT * FROM model WHERE uuid = :uuid

-- name: model_by_name
SELECT * FROM model WHERE owner = :owner AND name = :name

-- name: model_by_prefix
SELECT * FROM model WHERE uuid LIKE :prefix || '%'

-- name: model_list
SELECT * FROM model ORDER BY name

-- name: model_set_life
UPDATE model SET life = :life, forced = CASE WHEN :forced > forced THEN :forced ELSE forced END WHERE uuid = :model

-- name: model_set_credential
UPDATE model SET credential = :credential WHERE uuid = :model

-- name: model_delete
DELETE FROM model WHERE uuid = :model

-- name: model_purge_backing_attachments
DELETE FROM backing_attachment WHERE model = :model

-- name: model_purge_backings
DELETE FROM backing WHERE model = :model

-- name: model_purge_storage_attachments
DELETE FROM storage_attachment WHERE model = :model

-- name: model_purge_storage
DELETE FROM storage_instance WHERE model = :model

-- name: model_purge_units
DELETE FROM unit WHERE model = :model

-- name: model_counts
SELECT (SELECT COUNT(*) FROM machine WHERE model = :model) AS machines,
       (SELECT COUNT(*) FROM application WHERE model = :model) AS applications,
       (SELECT COUNT(*) FROM unit WHERE model = :model) AS units

-- name: model_sizes
SELECT (SELECT COUNT(*) FROM machine WHERE model = :model AND id NOT LIKE '%/%') AS machines,
       (SELECT COUNT(*) FROM machine WHERE model = :model AND id LIKE '%/%') AS containers,
       (SELECT COUNT(*) FROM application WHERE model = :model) AS applications,
       (SELECT COUNT(*) FROM unit WHERE model = :model) AS units,
       (SELECT COUNT(*) FROM relation WHERE model = :model) AS relations

-- name: model_config_list
SELECT key, value FROM model_config WHERE model = :model ORDER BY key

-- name: model_config_get
SELECT value FROM model_config WHERE model = :model AND key = :key

-- name: models_of_pools
SELECT model, value FROM model_config WHERE key = 'controller-pool' ORDER BY model

-- name: model_config_set
INSERT INTO model_config (model, key, value) VALUES (:model, :key, :value)
ON CONFLICT (model, key) DO UPDATE SET value = :value

-- name: model_config_reset
DELETE FROM model_config WHERE model = :model AND key = :key

-- name: cleanup_add
INSERT INTO cleanup (model, kind, entity, args, due, reason) VALUES (:model, :kind, :entity, :args, :due, :reason)
ON CONFLICT (model, kind, entity) DO UPDATE SET args = :args,
  due = CASE WHEN :due < cleanup.due THEN :due ELSE cleanup.due END

-- name: cleanup_list
SELECT * FROM cleanup WHERE model = :model ORDER BY due, id

-- name: cleanup_models
SELECT DISTINCT model FROM cleanup

-- name: cleanup_defer
UPDATE cleanup SET due = :due, reason = :reason WHERE id = :id

-- name: cleanup_delete
DELETE FROM cleanup WHERE id = :id
