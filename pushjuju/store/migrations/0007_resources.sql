-- Resources: a row for each resource of an application that has content or a revision in a store, and for each
-- resource that a unit has fetched. A declared resource that was never attached has no row.

CREATE TABLE resource (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  path TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  origin TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL DEFAULT '',
  username TEXT NOT NULL DEFAULT '',
  time TEXT NOT NULL,
  PRIMARY KEY (model, application, name),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);
CREATE INDEX resource_by_blob ON resource (sha256);

CREATE TABLE unit_resource (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  path TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  origin TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,
  username TEXT NOT NULL DEFAULT '',
  time TEXT NOT NULL,
  PRIMARY KEY (model, unit, name),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE
);

CREATE INDEX charm_by_blob ON charm (sha256);
