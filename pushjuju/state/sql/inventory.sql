-- What a plan compares: each row is a thing of a model with what people know of it, nothing that only grows.

-- name: inventory_model
SELECT uuid AS model, name, '' AS entity, life FROM model

-- name: inventory_application
SELECT model, name AS entity, charm_url AS charm, life, base, trust, exposed, constraints FROM application

-- name: inventory_unit
SELECT model, name AS entity, machine, principal, life, resolved FROM unit

-- name: inventory_machine
SELECT model, id AS entity, life, base, placement, constraints FROM machine

-- name: inventory_relation
SELECT model, id AS entity, key, life, scope, suspended, egress FROM relation

-- name: inventory_setting
-- Those of the charm that the application has now.
SELECT s.model, s.application || ' ' || s.key AS entity, s.value FROM application_setting s
JOIN application a ON a.model = s.model AND a.name = s.application AND a.charm_url = s.charm_url

-- name: inventory_binding
SELECT model, application || ':' || endpoint AS entity, space FROM binding

-- name: inventory_exposure
SELECT model, application || ':' || endpoint AS entity, spaces, cidrs FROM exposed_endpoint

-- name: inventory_resource
SELECT model, application || ' ' || name AS entity, origin, revision, fingerprint FROM resource

-- name: inventory_storage
SELECT model, id AS entity, owner, life, pool, size FROM storage_instance

-- name: inventory_model_config
SELECT model, key AS entity, value FROM model_config

-- name: inventory_constraints
SELECT model, 'of the model' AS entity, value FROM model_constraints

-- name: inventory_offer
SELECT model, name AS entity, application, endpoints FROM offer

-- name: inventory_saas
-- What was consumed; the proxies of those who consume come and go with their relations.
SELECT model, name AS entity, url, life FROM remote_application WHERE url <> ''

-- name: work_take_due
-- A rehearsal works its own copy of the queue: nobody else is there to hold a key.
UPDATE work SET due = NULL, owner = NULL, leased_until = NULL WHERE due IS NOT NULL AND due <= :now
RETURNING key
