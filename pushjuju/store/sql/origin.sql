-- name: origin_get
SELECT * FROM application_origin WHERE model = :model AND application = :application

-- name: origin_list
SELECT * FROM application_origin WHERE model = :model ORDER BY application

-- name: origin_put
INSERT INTO application_origin (model, application, source, id, hash, revision, channel, arch, os, track,
  latest_url, latest_revision, looked)
VALUES (:model, :application, :source, :id, :hash, :revision, :channel, :arch, :os, :track, :latest_url,
  :latest_revision, :looked)
ON CONFLICT (model, application) DO UPDATE SET source = :source, id = :id, hash = :hash, revision = :revision,
  channel = :channel, arch = :arch, os = :os, track = :track, latest_url = :latest_url,
  latest_revision = :latest_revision, looked = :looked

-- name: origin_delete
DELETE FROM application_origin WHERE model = :model AND application = :application

-- name: origin_latest
-- Only if the application still has the revision and channel for which the store was asked.
UPDATE application_origin SET latest_url = :url, latest_revision = :latest, looked = :looked
WHERE model = :model AND application = :application AND revision = :revision AND channel = :channel

-- name: origin_shown
SELECT application, channel, latest_url FROM application_origin WHERE model = :model

-- name: resource_latest_list
SELECT * FROM resource_latest WHERE model = :model AND application = :application ORDER BY name

-- name: resource_latest_put
INSERT INTO resource_latest (model, application, name, revision, type, path, description, fingerprint, size,
  time)
VALUES (:model, :application, :name, :revision, :type, :path, :description, :fingerprint, :size, :time)
ON CONFLICT (model, application, name) DO UPDATE SET revision = :revision, type = :type, path = :path,
  description = :description, fingerprint = :fingerprint, size = :size, time = :time

-- name: resource_latest_clear
DELETE FROM resource_latest WHERE model = :model AND application = :application

-- name: resource_fetched
-- Records that the content is stored, unless a user has attached another file meanwhile.
UPDATE resource SET sha256 = :sha256, time = :time
WHERE model = :model AND application = :application AND name = :name AND origin = 'store'
  AND fingerprint = :fingerprint
