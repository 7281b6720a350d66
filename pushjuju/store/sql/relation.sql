-- name: relation_get
-- rows: relation(model, id)
SELECT * FROM relation WHERE model = :model AND id = :id

-- name: relation_by_key
SELECT * FROM relation WHERE model = :model AND key = :key

-- name: relation_list
SELECT * FROM relation WHERE model = :model ORDER BY id

-- name: relation_of_application
SELECT * FROM relation WHERE model = :model AND id IN (
  SELECT relation FROM relation_endpoint WHERE model = :model AND application = :application) ORDER BY id

-- name: relation_set_life
-- rows: relation(model, id)
UPDATE relation SET life = :life WHERE model = :model AND id = :id

-- name: relation_set_suspended
-- rows: relation(model, id)
UPDATE relation SET suspended = :suspended, suspended_reason = :reason WHERE model = :model AND id = :id

-- name: relation_delete
-- rows: relation(model, id)
DELETE FROM relation WHERE model = :model AND id = :id

-- name: relation_endpoints
SELECT * FROM relation_endpoint WHERE model = :model AND relation = :relation ORDER BY application, endpoint

-- name: relation_endpoint_list
SELECT * FROM relation_endpoint WHERE model = :model ORDER BY relation, application, endpoint

-- name: endpoint_of_neighbours
SELECT * FROM relation_endpoint WHERE model = :model AND relation IN (
  SELECT relation FROM relation_endpoint WHERE model = :model AND application = :application)
ORDER BY relation, application, endpoint

-- name: scope_of_neighbours
-- Units of the same application count only in peer relations.
SELECT scope.* FROM relation_endpoint AS own CROSS JOIN relation_scope AS scope
WHERE scope.model = own.model AND scope.relation = own.relation
AND own.model = :model AND own.application = :application
AND (own.role = 'peer' OR scope.application <> :application) ORDER BY own.relation, scope.unit

-- name: bag_of_neighbours
-- Units of the same application are visible only in peer relations.
SELECT bag.* FROM relation_endpoint AS own CROSS JOIN relation_bag AS bag
WHERE bag.model = own.model AND bag.relation = own.relation
AND own.model = :model AND own.application = :application
AND (own.role = 'peer' OR bag.entity = :unit
  OR substr(bag.entity, 1, length(:application) + 1) <> :application || '/')
ORDER BY own.relation, bag.entity

-- name: scope_machines
-- The machines of the units in scope; a cross join keeps the order of the tables.
SELECT DISTINCT u.machine FROM relation_scope s CROSS JOIN unit u
WHERE s.model = :model AND s.relation = :relation
  AND u.model = s.model AND u.name = s.unit AND u.machine IS NOT NULL

-- name: scope_counterpart_machines
-- The machines of the units in scope that see an application's changes: of the other application, or its peers.
SELECT DISTINCT u.machine FROM relation_scope s CROSS JOIN unit u
WHERE s.model = :model AND s.relation = :relation AND s.unit <> :entity
  AND (s.application <> :application OR NOT EXISTS (
    SELECT 1 FROM relation_endpoint e
    WHERE e.model = :model AND e.relation = :relation AND e.application <> :application))
  AND u.model = s.model AND u.name = s.unit AND u.machine IS NOT NULL

-- name: scope_any
SELECT 1 FROM relation_scope WHERE model = :model AND relation = :relation LIMIT 1

-- name: scope_list
SELECT * FROM relation_scope WHERE model = :model AND relation = :relation ORDER BY unit

-- name: scope_of_unit
-- rows: relation_scope(model, unit)
SELECT * FROM relation_scope WHERE model = :model AND unit = :unit ORDER BY relation

-- name: scope_depart
-- rows: relation_scope(model, unit)
UPDATE relation_scope SET departing = 1 WHERE model = :model AND unit = :unit

-- name: scope_depart_one
-- rows: relation_scope(model, unit)
UPDATE relation_scope SET departing = 1 WHERE model = :model AND relation = :relation AND unit = :unit

-- name: scope_leave
-- rows: relation_scope(model, unit)
DELETE FROM relation_scope WHERE model = :model AND relation = :relation AND unit = :unit

-- name: bag_get
-- rows: relation_bag(model, relation)
SELECT * FROM relation_bag WHERE model = :model AND relation = :relation AND entity = :entity

-- name: bag_list
-- rows: relation_bag(model, relation)
SELECT * FROM relation_bag WHERE model = :model AND relation = :relation ORDER BY entity

-- name: bag_put
-- rows: relation_bag(model, relation)
INSERT INTO relation_bag (model, relation, entity, version, data)
VALUES (:model, :relation, :entity, 0, :data)
ON CONFLICT (model, relation, entity) DO UPDATE SET version = relation_bag.version + 1, data = :data
