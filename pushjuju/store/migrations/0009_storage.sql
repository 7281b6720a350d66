-- Storage. An instance is storage that a charm declares; a backing is the volume or filesystem behind an instance.
-- Instances are attached to units, backings to machines. A filesystem on a block device has two backings, and names
-- its volume. `storage` of units and machines counts their attachments, so that storage is never read for units
-- and machines without storage.

CREATE TABLE storage_pool (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  attributes TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (model, name)
);

-- The storage of future units of an application; provider, scope, managed and releasable are the pool's.
CREATE TABLE storage_directive (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  name TEXT NOT NULL,
  pool TEXT NOT NULL,
  size INTEGER NOT NULL,
  count INTEGER NOT NULL,
  provider TEXT NOT NULL,
  scope TEXT NOT NULL,
  managed INTEGER NOT NULL DEFAULT 0,
  releasable INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (model, application, name),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);
CREATE INDEX storage_directive_by_pool ON storage_directive (model, pool);

-- owner: a unit, or '' when it is detached; application: the application whose storage it is, or ''.
CREATE TABLE storage_instance (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL DEFAULT '',
  application TEXT NOT NULL DEFAULT '',
  pool TEXT NOT NULL,
  size INTEGER NOT NULL,
  provider TEXT NOT NULL,
  scope TEXT NOT NULL,
  managed INTEGER NOT NULL DEFAULT 0,
  releasable INTEGER NOT NULL DEFAULT 0,
  life TEXT NOT NULL,
  releasing INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  PRIMARY KEY (model, id)
);
CREATE INDEX storage_instance_by_pool ON storage_instance (model, pool);
CREATE INDEX storage_instance_by_application ON storage_instance (model, application, name);

CREATE TABLE storage_attachment (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  storage TEXT NOT NULL,
  life TEXT NOT NULL,
  PRIMARY KEY (model, unit, storage),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE,
  FOREIGN KEY (model, storage) REFERENCES storage_instance (model, id)
);
CREATE INDEX storage_attachment_by_storage ON storage_attachment (model, storage);

-- kind: volume or filesystem; machine: the machine on which it exists, or '' when it exists in the cloud;
-- provider_id: '' until it was made; begun: 1 once its creation has begun, so that it may exist.
CREATE TABLE backing (
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  storage TEXT NOT NULL,
  volume TEXT NOT NULL DEFAULT '',
  machine TEXT NOT NULL DEFAULT '',
  pool TEXT NOT NULL,
  provider TEXT NOT NULL,
  attributes TEXT NOT NULL DEFAULT '{}',
  size INTEGER NOT NULL,
  provider_id TEXT NOT NULL DEFAULT '',
  hardware_id TEXT NOT NULL DEFAULT '',
  wwn TEXT NOT NULL DEFAULT '',
  life TEXT NOT NULL,
  releasing INTEGER NOT NULL DEFAULT 0,
  begun INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  due TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, kind, id),
  FOREIGN KEY (model, storage) REFERENCES storage_instance (model, id)
);
CREATE INDEX backing_by_storage ON backing (model, storage);
CREATE INDEX backing_by_machine ON backing (model, machine);

-- boot_id: the boot of the machine in which the backing was attached last.
CREATE TABLE backing_attachment (
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  machine TEXT NOT NULL,
  life TEXT NOT NULL,
  location TEXT NOT NULL DEFAULT '',
  device TEXT NOT NULL DEFAULT '',
  device_link TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT '',
  read_only INTEGER NOT NULL DEFAULT 0,
  attached INTEGER NOT NULL DEFAULT 0,
  begun INTEGER NOT NULL DEFAULT 0,
  boot_id TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  due TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, kind, id, machine),
  FOREIGN KEY (model, kind, id) REFERENCES backing (model, kind, id),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id)
);
CREATE INDEX backing_attachment_by_machine ON backing_attachment (model, machine);

ALTER TABLE unit ADD COLUMN storage INTEGER NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN storage INTEGER NOT NULL DEFAULT 0;
