-- name: application_get
-- rows: application(model, name)
SELECT * FROM application WHERE model = :model AND name = :name

-- name: application_dying
SELECT name FROM application WHERE model = :model AND life <> 'alive' ORDER BY name

-- name: application_list
SELECT * FROM application WHERE model = :model ORDER BY name

-- name: application_set_charm
-- rows: application(model, name)
UPDATE application SET charm_url = :charm_url, charm_modified = charm_modified + 1, force_charm = :force
WHERE model = :model AND name = :name

-- name: application_force_charm
-- rows: application(model, name)
UPDATE application SET force_charm = 1 WHERE model = :model AND name = :name

-- name: application_set_life
-- rows: application(model, name)
UPDATE application SET life = :life WHERE model = :model AND name = :name

-- name: application_set_trust
-- rows: application(model, name)
UPDATE application SET trust = :trust WHERE model = :model AND name = :name

-- name: application_set_version
-- rows: application(model, name)
UPDATE application SET workload_version = :version WHERE model = :model AND name = :name

-- name: application_set_newest_version
-- rows: application(model, name)
UPDATE application SET workload_version = COALESCE((
  SELECT version FROM workload_version WHERE model = :model AND application = :name ORDER BY since DESC LIMIT 1
), '') WHERE model = :model AND name = :name

-- name: application_set_constraints
-- rows: application(model, name)
UPDATE application SET constraints = :constraints WHERE model = :model AND name = :name

-- name: application_set_base
-- rows: application(model, name)
UPDATE application SET base = :base WHERE model = :model AND name = :name

-- name: application_delete
-- rows: application(model, name)
DELETE FROM application WHERE model = :model AND name = :name

-- name: setting_list
SELECT key, value FROM application_setting
WHERE model = :model AND application = :application AND charm_url = :charm_url ORDER BY key

-- name: setting_set
INSERT INTO application_setting (model, application, charm_url, key, value)
VALUES (:model, :application, :charm_url, :key, :value)
ON CONFLICT (model, application, charm_url, key) DO UPDATE SET value = :value

-- name: setting_reset
DELETE FROM application_setting
WHERE model = :model AND application = :application AND charm_url = :charm_url AND key = :key

-- name: setting_delete_old
DELETE FROM application_setting WHERE model = :model AND application = :application AND charm_url <> :charm_url
  AND NOT EXISTS (SELECT 1 FROM unit u WHERE u.model = :model AND u.application = :application
                  AND u.charm_url = application_setting.charm_url)

-- name: binding_list
SELECT endpoint, space FROM binding WHERE model = :model AND application = :application ORDER BY endpoint

-- name: binding_set
INSERT INTO binding (model, application, endpoint, space) VALUES (:model, :application, :endpoint, :space)
ON CONFLICT (model, application, endpoint) DO UPDATE SET space = :space

-- name: leader_setting_list
SELECT key, value FROM leader_setting WHERE model = :model AND application = :application ORDER BY key

-- name: leader_setting_set
INSERT INTO leader_setting (model, application, key, value) VALUES (:model, :application, :key, :value)
ON CONFLICT (model, application, key) DO UPDATE SET value = :value

-- name: leader_setting_delete
DELETE FROM leader_setting WHERE model = :model AND application = :application AND key = :key

-- name: leader_settings_bump
-- rows: application(model, application)
UPDATE application SET leader_settings_version = leader_settings_version + 1
WHERE model = :model AND name = :application

-- name: lease_get
-- rows: lease(model, application)
SELECT holder FROM lease WHERE model = :model AND application = :application

-- name: lease_list
SELECT application, holder FROM lease WHERE model = :model

-- name: lease_take
-- rows: lease(model, application)
INSERT INTO lease (model, application, holder, granted) VALUES (:model, :application, :holder, :granted)
ON CONFLICT (model, application) DO NOTHING

-- name: lease_revoke
-- rows: lease(model, application)
DELETE FROM lease WHERE model = :model AND application = :application AND holder = :holder
