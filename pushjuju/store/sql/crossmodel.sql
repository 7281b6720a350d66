-- Offers, remote applications, and relations between models.

-- name: offer_get
SELECT * FROM offer WHERE model = :model AND name = :name

-- name: offer_by_uuid
SELECT * FROM offer WHERE uuid = :uuid

-- name: offer_list
SELECT * FROM offer WHERE model = :model ORDER BY name

-- name: offer_of_application
SELECT * FROM offer WHERE model = :model AND application = :application ORDER BY name

-- name: offer_update
UPDATE offer SET application = :application, endpoints = :endpoints WHERE uuid = :uuid

-- name: offer_delete
DELETE FROM offer WHERE uuid = :uuid

-- name: application_set_offered
-- rows: application(model, name)
UPDATE application SET offered = 1 WHERE model = :model AND name = :name

-- name: remote_application_get
SELECT * FROM remote_application WHERE model = :model AND name = :name

-- name: remote_application_list
SELECT * FROM remote_application WHERE model = :model ORDER BY name

-- name: remote_application_by_offer
SELECT * FROM remote_application WHERE offer = :offer ORDER BY model, name

-- name: remote_application_of
-- The names of an application in other models.
SELECT * FROM remote_application WHERE source = :source AND application = :application ORDER BY model, name

-- name: remote_application_set_life
UPDATE remote_application SET life = :life WHERE model = :model AND name = :name

-- name: remote_application_set_endpoints
UPDATE remote_application SET endpoints = :endpoints WHERE model = :model AND name = :name

-- name: remote_application_retarget
UPDATE remote_application SET application = :application, endpoints = :endpoints
WHERE model = :model AND name = :name

-- name: remote_application_delete
DELETE FROM remote_application WHERE model = :model AND name = :name

-- name: crossmodel_any
SELECT EXISTS (SELECT 1 FROM remote_application WHERE model = :model)
  OR EXISTS (SELECT 1 FROM offer WHERE model = :model)

-- name: relation_by_offer
SELECT * FROM relation WHERE offer = :offer AND offer <> '' ORDER BY id

-- name: relation_to_other_models
SELECT * FROM relation WHERE model = :model AND far_model <> '' ORDER BY id

-- name: relation_link
-- rows: relation(model, id)
UPDATE relation SET far_model = :far_model, far_relation = :far_relation, far_alias = :far_alias, offer = :offer
WHERE model = :model AND id = :id

-- name: ingress_on_machine
-- Relations to other models in which units of a machine are providers; a cross join keeps the order of tables.
SELECT DISTINCT e.application, r.* FROM unit u CROSS JOIN relation_endpoint e CROSS JOIN relation r
WHERE u.model = :model AND u.machine = :machine
  AND e.model = u.model AND e.application = u.application AND e.role = 'provider'
  AND r.model = e.model AND r.id = e.relation AND r.far_model <> '' AND r.suspended = 0

-- name: ingress_of_model
SELECT e.application, r.* FROM relation r CROSS JOIN relation_endpoint e
WHERE r.model = :model AND r.far_model <> '' AND r.suspended = 0
  AND e.model = r.model AND e.relation = r.id AND e.role = 'provider'

-- name: scope_addresses
-- The addresses of the machines with this model's units in a relation's scope; a cross join keeps the order.
SELECT DISTINCT m.addresses, m.ssh FROM relation_scope s CROSS JOIN unit u CROSS JOIN machine m
WHERE s.model = :model AND s.relation = :relation AND u.model = s.model AND u.name = s.unit
  AND m.model = u.model AND m.id = u.machine

-- name: models_connected
-- A model, and the models that offers connect with it, directly or through others.
WITH RECURSIVE near(model) AS (
  SELECT uuid FROM model WHERE uuid = :model
  UNION
  SELECT CASE WHEN r.model = near.model THEN r.source ELSE r.model END
  FROM near JOIN remote_application r ON r.model = near.model OR r.source = near.model
)
SELECT model FROM near ORDER BY model
