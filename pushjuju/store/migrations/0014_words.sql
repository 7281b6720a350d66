-- Disabled commands, constraints of models, users and their access, keys of users on machines.

CREATE TABLE block (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  type TEXT NOT NULL,
  message TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, type)
);

CREATE TABLE model_constraints (
  model TEXT PRIMARY KEY REFERENCES model (uuid) ON DELETE CASCADE,
  value TEXT NOT NULL
);

-- Users except admin, who owns the store.
CREATE TABLE person (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  created TEXT NOT NULL,
  created_by TEXT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0
);

-- The access of a user: kind is controller, cloud, model or offer; target is a name or UUID.
CREATE TABLE access (
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  person TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY (kind, target, person)
);

CREATE INDEX access_person ON access (person);

-- keys_due: 1 when the keys that may log in have changed since they were last written to the machine.
ALTER TABLE machine ADD COLUMN keys_due INTEGER NOT NULL DEFAULT 0;
