-- Disabled commands, constraints of models, people and what they may do, keys of people on machines.

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

-- The one who works the store, admin, has no row.
CREATE TABLE person (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  created TEXT NOT NULL,
  created_by TEXT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0
);

-- What a person may do: kind is controller, cloud, model or offer; target a name or UUID.
CREATE TABLE access (
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  person TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY (kind, target, person)
);

CREATE INDEX access_person ON access (person);

-- The keys that may log in have changed since they were last written there: the machine is reached for it.
ALTER TABLE machine ADD COLUMN keys_due INTEGER NOT NULL DEFAULT 0;
