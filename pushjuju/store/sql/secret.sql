-- name: encryption_key_list
SELECT id, current FROM encryption_key ORDER BY created, id

-- name: encryption_key_current
SELECT id FROM encryption_key WHERE current = 1

-- name: encryption_key_retire
UPDATE encryption_key SET current = 0

-- name: encryption_key_add
INSERT INTO encryption_key (id, current, created) VALUES (:id, 1, :created)
ON CONFLICT (id) DO UPDATE SET current = 1

-- name: encryption_key_drop_old
DELETE FROM encryption_key WHERE current = 0

-- name: secret_get
SELECT * FROM secret WHERE model = :model AND id = :id

-- name: secret_list
SELECT * FROM secret WHERE model = :model ORDER BY id

-- name: secret_of_owner
SELECT * FROM secret WHERE model = :model AND application = :application
  AND owner_kind = :owner_kind AND owner = :owner ORDER BY id

-- name: secret_managed
-- The secrets that a unit manages, or would manage as the leader.
SELECT * FROM secret WHERE model = :model AND application = :application
  AND (owner_kind = 'application' OR owner = :unit) ORDER BY id

-- name: secret_latest_managed
SELECT r.secret, r.expires FROM secret s CROSS JOIN secret_revision r
WHERE r.model = s.model AND r.secret = s.id AND r.revision = s.latest
  AND s.model = :model AND s.application = :application AND (s.owner_kind = 'application' OR s.owner = :unit)

-- name: secret_grants_managed
SELECT g.* FROM secret s CROSS JOIN secret_grant g
WHERE g.model = s.model AND g.secret = s.id
  AND s.model = :model AND s.application = :application AND (s.owner_kind = 'application' OR s.owner = :unit)
ORDER BY g.secret, g.target

-- name: secret_by_label
-- The index of labels has no secrets without a label, so that only a statement which leaves them out can use it.
SELECT * FROM secret WHERE model = :model AND owner_kind = :owner_kind AND owner = :owner AND label = :label
  AND label <> ''

-- name: secret_label_clash
-- An application's secret and a secret of its units must not have the same label.
SELECT id FROM secret WHERE model = :model AND application = :application AND label = :label AND id <> :id
  AND (owner = :owner OR owner_kind = 'application' OR :owner_kind = 'application') LIMIT 1

-- name: secret_update
UPDATE secret SET label = :label, description = :description, rotation = :rotation,
  next_rotation = :next_rotation, rotation_due = :rotation_due, auto_prune = :auto_prune, latest = :latest,
  updated = :updated
WHERE model = :model AND id = :id

-- name: secret_delete
DELETE FROM secret WHERE model = :model AND id = :id

-- name: secret_mark_application
-- rows: application(model, name)
UPDATE application SET secrets = 1 WHERE model = :model AND name = :name AND secrets = 0

-- name: secret_mark_far
-- rows: application(model, name)
UPDATE application SET secrets = 2 WHERE model = :model AND name = :name AND secrets < 2

-- name: secret_far_consumer_machines
-- The machines of units of other models that read a secret; a cross join keeps the order of the tables.
SELECT DISTINCT a.source, u.machine FROM remote_application a CROSS JOIN secret_consumer c CROSS JOIN unit u
WHERE a.model = :model AND c.model = a.model AND c.secret = :secret
  AND substr(c.unit, 1, length(a.name) + 1) = a.name || '/'
  AND u.model = a.source AND u.name = a.application || substr(c.unit, length(a.name) + 1)
  AND u.machine IS NOT NULL

-- name: secret_rotations_due
SELECT * FROM secret WHERE model = :model AND next_rotation IS NOT NULL AND next_rotation <= :now
  AND rotation_due = 0 ORDER BY next_rotation, id

-- name: secret_rotation_next
SELECT MIN(next_rotation) FROM secret WHERE model = :model AND next_rotation IS NOT NULL AND rotation_due = 0

-- name: secret_set_rotation
UPDATE secret SET next_rotation = :next_rotation, rotation_due = :due WHERE model = :model AND id = :id

-- name: secret_revision_get
SELECT * FROM secret_revision WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_revision_list
SELECT * FROM secret_revision WHERE model = :model AND secret = :secret ORDER BY revision

-- name: secret_revision_every
SELECT * FROM secret_revision ORDER BY model, secret, revision

-- name: secret_revision_reseal
UPDATE secret_revision SET key = :key, data = :data
WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_revision_delete
DELETE FROM secret_revision WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_revision_set_expires
UPDATE secret_revision SET expires = :expires, next_expiry = :expires, expiry_due = 0, updated = :updated
WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_expiries_due
SELECT * FROM secret_revision WHERE model = :model AND next_expiry IS NOT NULL AND next_expiry <= :now
  AND expiry_due = 0 ORDER BY next_expiry, secret, revision

-- name: secret_expiry_next
SELECT MIN(next_expiry) FROM secret_revision
WHERE model = :model AND next_expiry IS NOT NULL AND expiry_due = 0

-- name: secret_expiry_after
SELECT MIN(next_expiry) FROM secret_revision
WHERE model = :model AND next_expiry IS NOT NULL AND next_expiry > :after AND expiry_due = 0

-- name: secret_set_expiry
UPDATE secret_revision SET next_expiry = :next_expiry, expiry_due = :due
WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_expired_managed
SELECT r.secret, r.revision FROM secret s CROSS JOIN secret_revision r
WHERE r.model = s.model AND r.secret = s.id
  AND s.model = :model AND s.application = :application AND (s.owner_kind = 'application' OR s.owner = :unit)
  AND r.expiry_due = 1 ORDER BY r.next_expiry, r.secret, r.revision

-- name: secret_obsolete_managed
-- Revisions that no unit reads, without the latest revision.
SELECT r.secret, r.revision FROM secret s CROSS JOIN secret_revision r
WHERE r.model = s.model AND r.secret = s.id
  AND s.model = :model AND s.application = :application AND (s.owner_kind = 'application' OR s.owner = :unit)
  AND r.revision < s.latest AND NOT EXISTS (SELECT 1 FROM secret_consumer c
    WHERE c.model = r.model AND c.secret = r.secret AND c.revision = r.revision)
ORDER BY r.secret, r.revision

-- name: secret_obsolete
SELECT r.revision FROM secret s CROSS JOIN secret_revision r
WHERE r.model = s.model AND r.secret = s.id
  AND s.model = :model AND s.id = :secret
  AND r.revision < s.latest AND NOT EXISTS (SELECT 1 FROM secret_consumer c
    WHERE c.model = r.model AND c.secret = r.secret AND c.revision = r.revision)
ORDER BY r.revision

-- name: secret_to_move
SELECT * FROM secret_revision WHERE model = :model AND backend <> target ORDER BY secret, revision LIMIT 100

-- name: secret_moved
UPDATE secret_revision SET key = :key, data = :data, backend = :backend
WHERE model = :model AND secret = :secret AND revision = :revision

-- name: secret_retarget
UPDATE secret_revision SET target = :target WHERE model = :model AND target <> :target

-- name: secret_uses_of_backend
SELECT COUNT(*) FROM secret_revision WHERE backend = :backend OR target = :backend

-- name: secret_count_in_model
SELECT backend, COUNT(DISTINCT secret) AS number FROM secret_revision WHERE model = :model GROUP BY backend

-- name: secret_consumer_get
SELECT * FROM secret_consumer WHERE model = :model AND secret = :secret AND unit = :unit

-- name: secret_consumer_list
SELECT * FROM secret_consumer WHERE model = :model AND secret = :secret ORDER BY unit

-- name: secret_consumer_by_label
SELECT * FROM secret_consumer WHERE model = :model AND unit = :unit AND label = :label

-- name: secret_consumer_put
INSERT INTO secret_consumer (model, secret, unit, label, revision, noted)
VALUES (:model, :secret, :unit, :label, :revision, :noted)
ON CONFLICT (model, secret, unit) DO UPDATE SET label = :label, revision = :revision

-- name: secret_consumer_machines
SELECT DISTINCT u.machine FROM secret_consumer c CROSS JOIN unit u
WHERE c.model = :model AND c.secret = :secret AND u.model = c.model AND u.name = c.unit
  AND u.machine IS NOT NULL

-- name: secret_consumed
-- The secrets that a unit reads; a new revision exists where `latest` is greater than `noted`.
SELECT c.secret, s.latest, c.noted, CASE WHEN c.label <> '' THEN c.label ELSE s.label END AS label
FROM secret_consumer c CROSS JOIN secret s
WHERE s.model = c.model AND s.id = c.secret
  AND c.model = :model AND c.unit = :unit ORDER BY c.secret

-- name: secret_consumer_forget
DELETE FROM secret_consumer WHERE model = :model AND unit = :unit

-- name: secret_consumer_forget_application
-- The units of an application of another model stop reading secrets of this model.
DELETE FROM secret_consumer WHERE model = :model
  AND substr(unit, 1, length(:application) + 1) = :application || '/'

-- name: secret_grant_put
INSERT INTO secret_grant (model, secret, kind, target, relation)
VALUES (:model, :secret, :kind, :target, :relation)
ON CONFLICT (model, secret, target) DO UPDATE SET relation = :relation

-- name: secret_grant_get
-- A grant has no effect while its relation is suspended.
SELECT g.* FROM secret_grant g LEFT JOIN relation r ON r.model = g.model AND r.id = g.relation
WHERE g.model = :model AND g.secret = :secret AND g.target = :target AND COALESCE(r.suspended, 0) = 0

-- name: secret_grant_list
SELECT * FROM secret_grant WHERE model = :model AND secret = :secret ORDER BY target

-- name: secret_grant_delete
DELETE FROM secret_grant WHERE model = :model AND secret = :secret AND target = :target

-- name: secret_grant_delete_units
-- Grants to single units of an application.
DELETE FROM secret_grant WHERE model = :model AND secret = :secret AND kind = 'unit'
  AND substr(target, 1, length(:application) + 1) = :application || '/'

-- name: secret_grant_forget
DELETE FROM secret_grant WHERE model = :model AND target = :target

-- name: secret_trash_add
INSERT INTO secret_trash (model, backend, path) VALUES (:model, :backend, :path)

-- name: secret_trash_list
SELECT * FROM secret_trash WHERE model = :model ORDER BY id LIMIT 100

-- name: secret_trash_delete
DELETE FROM secret_trash WHERE id = :id

-- name: secret_trash_delete_backend
DELETE FROM secret_trash WHERE backend = :backend

-- name: secret_backend_list
SELECT * FROM secret_backend ORDER BY name

-- name: secret_backend_get
SELECT * FROM secret_backend WHERE name = :name

-- name: secret_backend_by_id
SELECT * FROM secret_backend WHERE id = :id

-- name: secret_backend_set_config
UPDATE secret_backend SET key = :key, config = :config WHERE name = :name

-- name: secret_backend_set_status
UPDATE secret_backend SET status = :status, message = :message
WHERE id = :id AND (status <> :status OR message <> :message)

-- name: secret_backend_delete
DELETE FROM secret_backend WHERE name = :name

-- name: secret_count_internal
SELECT COUNT(*) FROM secret_revision WHERE backend = '' AND target = ''
