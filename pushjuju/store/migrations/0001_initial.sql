-- The first schema. Times are UTC text that sorts (2025-03-01T09:00:00.000000Z); JSON is text.
-- Portable between SQLite and PostgreSQL: nothing depends on rowids or on type affinity.

CREATE TABLE sequence (
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  next INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
);

CREATE TABLE model (
  uuid TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  cloud TEXT NOT NULL,
  cloud_type TEXT NOT NULL,
  region TEXT NOT NULL,
  credential TEXT NOT NULL,
  life TEXT NOT NULL,
  forced INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  UNIQUE (owner, name)
);

CREATE TABLE model_config (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, key)
);

CREATE TABLE charm (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  url TEXT NOT NULL,
  name TEXT NOT NULL,
  revision INTEGER NOT NULL,
  origin TEXT NOT NULL,
  channel TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (model, url)
);

CREATE TABLE application (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  charm_url TEXT NOT NULL,
  charm_modified INTEGER NOT NULL DEFAULT 0,
  force_charm INTEGER NOT NULL DEFAULT 0,
  life TEXT NOT NULL,
  subordinate INTEGER NOT NULL,
  base TEXT NOT NULL,
  trust INTEGER NOT NULL DEFAULT 0,
  exposed INTEGER NOT NULL DEFAULT 0,
  constraints TEXT NOT NULL DEFAULT '{}',
  leader_settings_version INTEGER NOT NULL DEFAULT 0,
  workload_version TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL,
  PRIMARY KEY (model, name)
);

CREATE TABLE application_setting (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  charm_url TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, application, charm_url, key),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

CREATE TABLE binding (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  space TEXT NOT NULL,
  PRIMARY KEY (model, application, endpoint),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

CREATE TABLE leader_setting (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, application, key),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

CREATE TABLE lease (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  holder TEXT NOT NULL,
  granted TEXT NOT NULL,
  PRIMARY KEY (model, application),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

CREATE TABLE machine (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id TEXT NOT NULL,
  life TEXT NOT NULL,
  base TEXT NOT NULL,
  constraints TEXT NOT NULL DEFAULT '{}',
  placement TEXT NOT NULL DEFAULT '',
  nonce TEXT NOT NULL DEFAULT '',
  provider TEXT NOT NULL DEFAULT '',
  instance_id TEXT NOT NULL DEFAULT '',
  display_name TEXT NOT NULL DEFAULT '',
  hostname TEXT NOT NULL DEFAULT '',
  hardware TEXT NOT NULL DEFAULT '{}',
  addresses TEXT NOT NULL DEFAULT '[]',
  ssh TEXT NOT NULL DEFAULT '{}',
  boot_id TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  keep_instance INTEGER NOT NULL DEFAULT 0,
  forced INTEGER NOT NULL DEFAULT 0,
  last_seen TEXT,
  unreachable_since TEXT,
  last_failed TEXT,
  created TEXT NOT NULL,
  PRIMARY KEY (model, id)
);

CREATE TABLE unit (
  model TEXT NOT NULL,
  name TEXT NOT NULL,
  application TEXT NOT NULL,
  number INTEGER NOT NULL,
  machine TEXT,
  principal TEXT,
  life TEXT NOT NULL,
  charm_url TEXT NOT NULL DEFAULT '',
  resolved TEXT NOT NULL DEFAULT 'none',
  state TEXT NOT NULL DEFAULT '{}',
  update_status_version INTEGER NOT NULL DEFAULT 0,
  update_status_due TEXT,
  retry_version INTEGER NOT NULL DEFAULT 0,
  retry_count INTEGER NOT NULL DEFAULT 0,
  retry_due TEXT,
  decision TEXT NOT NULL DEFAULT '{}',
  forced INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  PRIMARY KEY (model, name),
  FOREIGN KEY (model, application) REFERENCES application (model, name),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id)
);
CREATE INDEX unit_by_application ON unit (model, application);
CREATE INDEX unit_by_machine ON unit (model, machine);
CREATE INDEX unit_by_principal ON unit (model, principal);

CREATE TABLE charm_state (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, unit, key),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE
);

CREATE TABLE port (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  protocol TEXT NOT NULL,
  from_port INTEGER NOT NULL,
  to_port INTEGER NOT NULL,
  PRIMARY KEY (model, unit, endpoint, protocol, from_port, to_port),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE
);

CREATE TABLE relation (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  key TEXT NOT NULL,
  life TEXT NOT NULL,
  scope TEXT NOT NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  suspended_reason TEXT NOT NULL DEFAULT '',
  egress TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL,
  PRIMARY KEY (model, id),
  UNIQUE (model, key)
);

CREATE TABLE relation_endpoint (
  model TEXT NOT NULL,
  relation INTEGER NOT NULL,
  application TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  role TEXT NOT NULL,
  interface TEXT NOT NULL,
  capacity INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (model, relation, application, endpoint),
  FOREIGN KEY (model, relation) REFERENCES relation (model, id) ON DELETE CASCADE
);
CREATE INDEX relation_endpoint_by_application ON relation_endpoint (model, application);

-- One row per unit in the scope of a relation.
CREATE TABLE relation_scope (
  model TEXT NOT NULL,
  relation INTEGER NOT NULL,
  unit TEXT NOT NULL,
  application TEXT NOT NULL,
  container TEXT NOT NULL DEFAULT '',
  departing INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (model, relation, unit),
  FOREIGN KEY (model, relation) REFERENCES relation (model, id) ON DELETE CASCADE
);
CREATE INDEX relation_scope_by_unit ON relation_scope (model, unit);

-- Settings of a unit or an application in a relation; they stay after the unit has left, until the relation ends.
CREATE TABLE relation_bag (
  model TEXT NOT NULL,
  relation INTEGER NOT NULL,
  entity TEXT NOT NULL,
  version INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (model, relation, entity),
  FOREIGN KEY (model, relation) REFERENCES relation (model, id) ON DELETE CASCADE
);

CREATE TABLE status (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (model, kind, entity)
);

CREATE TABLE status_history (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  since TEXT NOT NULL
);
CREATE INDEX status_history_by_entity ON status_history (model, entity, kind, id);

-- One row per operation that was sent to a machine; by its id, an operation runs exactly once.
CREATE TABLE operation (
  id TEXT PRIMARY KEY,
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  unit TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  document TEXT NOT NULL,
  events INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '{}',
  prepared TEXT NOT NULL,
  committed TEXT
);
CREATE INDEX operation_by_unit ON operation (model, unit, prepared);
CREATE INDEX operation_open ON operation (model, machine, state);

CREATE TABLE log (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  time TEXT NOT NULL,
  entity TEXT NOT NULL,
  level TEXT NOT NULL,
  module TEXT NOT NULL,
  location TEXT NOT NULL DEFAULT '',
  labels TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL
);
CREATE INDEX log_by_model ON log (model, id);

-- Removals that are due later; users see the reason.
CREATE TABLE cleanup (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL,
  args TEXT NOT NULL DEFAULT '{}',
  due TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  UNIQUE (model, kind, entity)
);

CREATE TABLE work (
  key TEXT PRIMARY KEY,
  due TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  leased_until TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT ''
);
CREATE INDEX work_by_due ON work (due);
