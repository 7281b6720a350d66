-- The entities that `plan` compares, with the columns that users know, without counters and times.

-- name: inventory_model
SELECT uuid AS model, name, '' AS entity, life, credential FROM model

-- name: inventory_application
SELECT model, name AS entity, charm_url AS charm, life, base, trust, exposed, constraints FROM application

-- name: inventory_unit
SELECT model, name AS entity, machine, principal, life, resolved FROM unit

-- name: inventory_machine
SELECT m.model, m.id AS entity, m.life, m.base, m.placement, m.constraints, COALESCE(u.status, '') AS upgrade
FROM machine m LEFT JOIN machine_upgrade u ON u.model = m.model AND u.machine = m.id

-- name: inventory_relation
SELECT model, id AS entity, key, life, scope, suspended, egress FROM relation

-- name: inventory_setting
-- Settings of the application's present charm.
SELECT s.model, s.application || ' ' || s.key AS entity, s.value, s.key AS option, c.document
FROM application_setting s
JOIN application a ON a.model = s.model AND a.name = s.application AND a.charm_url = s.charm_url
JOIN charm c ON c.model = a.model AND c.url = a.charm_url

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
-- Consumed applications; without the proxies of consumers, which exist only with their relations.
SELECT model, name AS entity, url, life FROM remote_application WHERE url <> ''

-- name: inventory_storage_directive
-- The storage of future units.
SELECT model, application || ' ' || name AS entity, pool, size, count FROM storage_directive

-- name: inventory_storage_pool
SELECT model, name AS entity, provider, attributes FROM storage_pool

-- name: inventory_annotation
SELECT model, owner || ' ' || key AS entity, value FROM annotation

-- name: inventory_space
SELECT model, id AS entity, name AS shown FROM space

-- name: inventory_subnet
SELECT u.model, u.cidr AS entity, COALESCE(s.name, 'alpha') AS space FROM subnet u
LEFT JOIN space s ON s.model = u.model AND s.id = u.space

-- name: inventory_secret
-- Secrets without their content.
SELECT s.model, s.id AS entity, CASE WHEN s.owner_kind = 'model' AND s.label <> '' THEN s.label ELSE s.id END AS shown,
  s.owner, s.label, s.description, s.rotation, s.auto_prune, s.latest AS revision,
  (SELECT COUNT(*) FROM secret_revision r WHERE r.model = s.model AND r.secret = s.id) AS revisions
FROM secret s

-- name: inventory_secret_grant
SELECT g.model, g.secret || ' ' || g.target AS entity, CASE WHEN s.owner_kind = 'model' AND s.label <> '' THEN s.label
  ELSE s.id END || ' to ' || g.target AS shown
FROM secret_grant g JOIN secret s ON s.model = g.model AND s.id = g.secret

-- name: inventory_secret_backend
SELECT '' AS model, name AS entity, type, config AS sealed FROM secret_backend

-- name: inventory_task
SELECT model, id AS entity, action, receiver, status FROM task

-- name: inventory_disabled
SELECT model, type AS entity, message FROM block

-- name: inventory_user
SELECT '' AS model, name AS entity, display_name, disabled FROM person

-- name: inventory_access
-- Access to a model has that model in `model`; access to an offer is shown with the offer's name.
SELECT CASE WHEN a.kind = 'model' THEN a.target ELSE '' END AS model, a.kind || ' ' || a.target || ' ' || a.person AS entity,
  a.person || CASE a.kind WHEN 'model' THEN '' WHEN 'offer' THEN ' to ' || COALESCE(o.name, a.target)
    WHEN 'cloud' THEN ' to cloud ' || a.target ELSE ' to the controller' END AS shown, a.level
FROM access a LEFT JOIN offer o ON a.kind = 'offer' AND o.uuid = a.target

-- name: work_take_due
-- A rehearsal uses its own copy of the queue, so no other process claims keys.
UPDATE work SET due = NULL, owner = NULL, leased_until = NULL WHERE due IS NOT NULL AND due <= :now
RETURNING key
