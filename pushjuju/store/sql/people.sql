-- name: block_list
SELECT type, message FROM block WHERE model = :model ORDER BY type

-- name: block_of
SELECT message FROM block WHERE model = :model AND type = :type

-- name: block_set
INSERT INTO block (model, type, message) VALUES (:model, :type, :message)

-- name: block_delete
DELETE FROM block WHERE model = :model AND type = :type

-- name: block_delete_all
DELETE FROM block

-- name: block_models
SELECT m.name, m.uuid, m.owner, b.type, b.message FROM block b JOIN model m ON m.uuid = b.model
ORDER BY m.name, m.owner, b.type

-- name: model_constraints_get
SELECT value FROM model_constraints WHERE model = :model

-- name: model_constraints_set
INSERT INTO model_constraints (model, value) VALUES (:model, :value)
ON CONFLICT (model) DO UPDATE SET value = :value

-- name: person_get
SELECT * FROM person WHERE name = :name

-- name: person_list
SELECT * FROM person ORDER BY name

-- name: person_set_disabled
UPDATE person SET disabled = :disabled WHERE name = :name

-- name: person_delete
DELETE FROM person WHERE name = :name

-- name: access_of
SELECT level FROM access WHERE kind = :kind AND target = :target AND person = :person

-- name: access_list
SELECT person, level FROM access WHERE kind = :kind AND target = :target ORDER BY person

-- name: access_of_person
SELECT target, level FROM access WHERE person = :person AND kind = :kind ORDER BY target

-- name: access_set
INSERT INTO access (kind, target, person, level) VALUES (:kind, :target, :person, :level)
ON CONFLICT (kind, target, person) DO UPDATE SET level = :level

-- name: access_delete
DELETE FROM access WHERE kind = :kind AND target = :target AND person = :person

-- name: access_forget
DELETE FROM access WHERE kind = :kind AND target = :target

-- name: access_forget_person
DELETE FROM access WHERE person = :person

-- name: keys_due
UPDATE machine SET keys_due = 1 WHERE model = :model AND life <> 'dead'

-- name: keys_written
-- rows: machine(model, id)
UPDATE machine SET keys_due = 0 WHERE model = :model AND id = :id

-- name: machine_ids
SELECT id FROM machine WHERE model = :model AND life <> 'dead' ORDER BY id

-- name: user_login_get
SELECT * FROM user_login WHERE name = :name

-- name: user_login_set_password
INSERT INTO user_login (name, password, generation) VALUES (:name, :password, 1)
ON CONFLICT (name) DO UPDATE SET password = :password, generation = user_login.generation + 1

-- name: user_login_end
INSERT INTO user_login (name, generation) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET generation = user_login.generation + 1

-- name: user_login_connected
INSERT INTO user_login (name, last_connection) VALUES (:name, :now)
ON CONFLICT (name) DO UPDATE SET last_connection = :now

-- name: user_login_list
SELECT * FROM user_login ORDER BY name

-- name: user_login_delete
DELETE FROM user_login WHERE name = :name

-- name: token_get
SELECT * FROM token WHERE digest = :digest AND purpose = :purpose

-- name: token_delete
DELETE FROM token WHERE digest = :digest

-- name: token_use
UPDATE token SET until = :until WHERE digest = :digest

-- name: token_delete_more
DELETE FROM token WHERE purpose = :purpose AND person = :person AND digest NOT IN (
  SELECT digest FROM token WHERE purpose = :purpose AND person = :person ORDER BY until DESC, digest LIMIT :kept
)

-- name: token_delete_old
DELETE FROM token WHERE until < :now

-- name: token_delete_of
DELETE FROM token WHERE purpose = :purpose AND person = :person

-- name: token_delete_person
DELETE FROM token WHERE person = :person
