-- The store from which an application's charm came; local charms have no row.

CREATE TABLE application_origin (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  source TEXT NOT NULL,
  id TEXT NOT NULL,
  hash TEXT NOT NULL,
  revision INTEGER NOT NULL,
  channel TEXT NOT NULL,
  arch TEXT NOT NULL,
  os TEXT NOT NULL,
  track TEXT NOT NULL,
  latest_url TEXT NOT NULL DEFAULT '',
  latest_revision INTEGER NOT NULL DEFAULT -1,
  looked TEXT,
  PRIMARY KEY (model, application),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

-- The newest revision in the store of a resource that an application takes from the store.
CREATE TABLE resource_latest (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  name TEXT NOT NULL,
  revision INTEGER NOT NULL,
  type TEXT NOT NULL,
  path TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,
  time TEXT NOT NULL,
  PRIMARY KEY (model, application, name),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);
