-- name: storage_pool_list
SELECT * FROM storage_pool WHERE model = :model ORDER BY name

-- name: storage_pool_get
SELECT * FROM storage_pool WHERE model = :model AND name = :name

-- name: storage_pool_delete
DELETE FROM storage_pool WHERE model = :model AND name = :name

-- name: storage_pool_uses
SELECT (SELECT COUNT(*) FROM storage_directive WHERE model = :model AND pool = :pool)
     + (SELECT COUNT(*) FROM storage_instance WHERE model = :model AND pool = :pool)

-- name: storage_directive_list
SELECT * FROM storage_directive WHERE model = :model AND application = :application

-- name: storage_directive_get
SELECT * FROM storage_directive WHERE model = :model AND application = :application AND name = :name

-- name: storage_directive_delete
DELETE FROM storage_directive WHERE model = :model AND application = :application AND name = :name

-- name: storage_instance_list
SELECT * FROM storage_instance WHERE model = :model

-- name: storage_instance_get
SELECT * FROM storage_instance WHERE model = :model AND id = :id

-- name: storage_instance_of_application
SELECT * FROM storage_instance WHERE model = :model AND application = :application

-- name: storage_instance_set_owner
UPDATE storage_instance SET owner = :owner, application = :application WHERE model = :model AND id = :id

-- name: storage_instance_set_life
UPDATE storage_instance SET life = :life, releasing = :releasing WHERE model = :model AND id = :id

-- name: storage_instance_delete
DELETE FROM storage_instance WHERE model = :model AND id = :id

-- name: storage_any
SELECT EXISTS (SELECT 1 FROM storage_instance WHERE model = :model)

-- name: storage_attachment_list
SELECT * FROM storage_attachment WHERE model = :model

-- name: storage_attachment_of_unit
SELECT * FROM storage_attachment WHERE model = :model AND unit = :unit

-- name: storage_attachment_of_storage
SELECT * FROM storage_attachment WHERE model = :model AND storage = :storage

-- name: storage_attachment_set_life
UPDATE storage_attachment SET life = :life WHERE model = :model AND unit = :unit AND storage = :storage

-- name: storage_attachment_delete
DELETE FROM storage_attachment WHERE model = :model AND unit = :unit AND storage = :storage

-- name: unit_count_storage
-- rows: unit(model, name)
UPDATE unit SET storage =
  (SELECT COUNT(*) FROM storage_attachment AS a WHERE a.model = unit.model AND a.unit = unit.name)
WHERE model = :model AND name = :name

-- name: machine_count_storage
-- rows: machine(model, id)
-- Volumes and filesystems that are attached to a machine or exist on it.
UPDATE machine SET storage =
  (SELECT COUNT(*) FROM backing_attachment AS a WHERE a.model = machine.model AND a.machine = machine.id)
  + (SELECT COUNT(*) FROM backing AS b WHERE b.model = machine.model AND b.machine = machine.id)
WHERE model = :model AND id = :id

-- name: backing_list
SELECT * FROM backing WHERE model = :model

-- name: backing_get
SELECT * FROM backing WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_of_storage
SELECT * FROM backing WHERE model = :model AND storage = :storage

-- name: backing_on_machine
SELECT * FROM backing WHERE model = :model AND machine = :machine

-- name: backing_set_begun
UPDATE backing SET begun = 1 WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_set_made
UPDATE backing SET provider_id = :provider_id, size = :size, hardware_id = :hardware_id, wwn = :wwn,
  attempts = 0, due = ''
WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_set_life
UPDATE backing SET life = :life, releasing = :releasing, attempts = 0, due = ''
WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_set_due
UPDATE backing SET attempts = :attempts, due = :due WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_retry_all
UPDATE backing SET attempts = 0, due = '' WHERE model = :model AND due <> ''

-- name: backing_attachment_retry_all
UPDATE backing_attachment SET attempts = 0, due = '' WHERE model = :model AND due <> ''

-- name: backing_delete
DELETE FROM backing WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_attachment_list
SELECT * FROM backing_attachment WHERE model = :model

-- name: backing_attachment_get
SELECT * FROM backing_attachment WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: backing_attachment_on_machine
SELECT * FROM backing_attachment WHERE model = :model AND machine = :machine

-- name: backing_attachment_of_backing
SELECT * FROM backing_attachment WHERE model = :model AND kind = :kind AND id = :id

-- name: backing_attachment_set_source
UPDATE backing_attachment SET device = :device, device_link = :device_link, source = :source
WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: backing_attachment_set_attached
UPDATE backing_attachment SET attached = 1, boot_id = :boot_id, attempts = 0, due = ''
WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: backing_attachment_set_life
UPDATE backing_attachment SET life = :life, attempts = 0, due = ''
WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: backing_attachment_set_due
UPDATE backing_attachment SET attempts = :attempts, due = :due
WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: backing_attachment_delete
DELETE FROM backing_attachment WHERE model = :model AND kind = :kind AND id = :id AND machine = :machine

-- name: mount_points_on_machine
SELECT i.name, a.location FROM backing_attachment AS a
JOIN backing AS b ON b.model = a.model AND b.kind = a.kind AND b.id = a.id
JOIN storage_instance AS i ON i.model = b.model AND i.id = b.storage
WHERE a.model = :model AND a.machine = :machine AND a.location <> ''

-- name: storage_seen_by_unit
-- The storage of a unit and its place on the machine: the volume of block storage, else the filesystem.
SELECT a.storage, a.life, i.name, i.kind, b.provider_id, b.hardware_id, b.wwn,
  h.attached, h.location, h.device, h.device_link
FROM storage_attachment AS a
JOIN storage_instance AS i ON i.model = a.model AND i.id = a.storage
LEFT JOIN backing AS b ON b.model = i.model AND b.storage = i.id
  AND b.kind = CASE i.kind WHEN 'block' THEN 'volume' ELSE 'filesystem' END
LEFT JOIN backing_attachment AS h ON h.model = b.model AND h.kind = b.kind AND h.id = b.id
  AND h.machine = :machine
WHERE a.model = :model AND a.unit = :unit
