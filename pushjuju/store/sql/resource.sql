-- name: resource_get
SELECT * FROM resource WHERE model = :model AND application = :application AND name = :name

-- name: resource_of_application
SELECT * FROM resource WHERE model = :model AND application = :application ORDER BY name

-- name: resource_put
INSERT INTO resource (model, application, name, type, path, description, origin, revision, fingerprint, size,
  sha256, username, time)
VALUES (:model, :application, :name, :type, :path, :description, :origin, :revision, :fingerprint, :size,
  :sha256, :username, :time)
ON CONFLICT (model, application, name) DO UPDATE SET type = :type, path = :path, description = :description,
  origin = :origin, revision = :revision, fingerprint = :fingerprint, size = :size, sha256 = :sha256,
  username = :username, time = :time

-- name: resource_set_meta
UPDATE resource SET path = :path, description = :description
WHERE model = :model AND application = :application AND name = :name

-- name: resource_modified
-- rows: application(model, application)
UPDATE application SET charm_modified = charm_modified + 1 WHERE model = :model AND name = :application

-- name: unit_resource_of_application
-- A cross join keeps the order of the tables: from the application's units to their resources.
SELECT r.* FROM unit u CROSS JOIN unit_resource r
WHERE u.model = :model AND u.application = :application AND r.model = u.model AND r.unit = u.name
ORDER BY u.number, r.name

-- name: unit_resource_put
INSERT INTO unit_resource (model, unit, name, type, path, description, origin, revision, fingerprint, size,
  username, time)
VALUES (:model, :unit, :name, :type, :path, :description, :origin, :revision, :fingerprint, :size, :username,
  :time)
ON CONFLICT (model, unit, name) DO UPDATE SET type = :type, path = :path, description = :description,
  origin = :origin, revision = :revision, fingerprint = :fingerprint, size = :size, username = :username,
  time = :time
