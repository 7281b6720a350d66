-- name: application_annotations
SELECT application AS owner, key, value FROM application_annotation WHERE model = :model ORDER BY application, key

-- name: machine_annotations
SELECT machine AS owner, key, value FROM machine_annotation WHERE model = :model ORDER BY machine, key

-- name: application_annotation_set
INSERT INTO application_annotation (model, application, key, value) VALUES (:model, :owner, :key, :value)
ON CONFLICT (model, application, key) DO UPDATE SET value = :value

-- name: machine_annotation_set
INSERT INTO machine_annotation (model, machine, key, value) VALUES (:model, :owner, :key, :value)
ON CONFLICT (model, machine, key) DO UPDATE SET value = :value

-- name: application_annotation_delete
DELETE FROM application_annotation WHERE model = :model AND application = :owner AND key = :key

-- name: machine_annotation_delete
DELETE FROM machine_annotation WHERE model = :model AND machine = :owner AND key = :key

-- name: sequence_units
SELECT name, next FROM sequence WHERE scope = :scope AND name >= 'unit-' AND name < 'unit.'
