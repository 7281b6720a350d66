-- name: annotations
SELECT owner, key, value FROM annotation WHERE model = :model AND kind = :kind ORDER BY owner, key

-- name: annotation_set
INSERT INTO annotation (model, kind, owner, key, value) VALUES (:model, :kind, :owner, :key, :value)
ON CONFLICT (model, kind, owner, key) DO UPDATE SET value = :value

-- name: annotation_delete
DELETE FROM annotation WHERE model = :model AND kind = :kind AND owner = :owner AND key = :key

-- name: sequence_units
SELECT name, next FROM sequence WHERE scope = :scope AND name >= 'unit-' AND name < 'unit.'
