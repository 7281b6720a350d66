-- Secrets. Content is encrypted: every record names its key; the keys are in a file beside the store.

-- 1 as soon as an application or one of its units has owned or read a secret; else secrets are never read for it.
ALTER TABLE application ADD COLUMN secrets INTEGER NOT NULL DEFAULT 0;

-- Keys that encrypt records; `current` is 1 for the key of new records. The store has only the names of keys.
CREATE TABLE encryption_key (
  id TEXT PRIMARY KEY,
  current INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL
);

CREATE TABLE secret_backend (
  name TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  key TEXT NOT NULL,
  config BLOB NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  message TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL
);

-- owner_kind: model, application or unit; owner: its name, '' for the model; application: the owner's, or ''.
-- next_rotation: when secret-rotate is due; rotation_due: 1 when it is due.
CREATE TABLE secret (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id TEXT NOT NULL,
  owner_kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  application TEXT NOT NULL,
  label TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  rotation TEXT NOT NULL DEFAULT 'never',
  next_rotation TEXT,
  rotation_due INTEGER NOT NULL DEFAULT 0,
  auto_prune INTEGER NOT NULL DEFAULT 0,
  latest INTEGER NOT NULL,
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  PRIMARY KEY (model, id)
);
CREATE UNIQUE INDEX secret_by_label ON secret (model, owner_kind, owner, label) WHERE label <> '';
CREATE INDEX secret_by_application ON secret (model, application, id);
CREATE INDEX secret_by_rotation ON secret (model, next_rotation) WHERE next_rotation IS NOT NULL;

-- backend: the backend that has the content, or '' for `data`; target: where a loop of the model moves it.
-- expires: as the charm set it; next_expiry: when secret-expired is due (again); expiry_due: 1 when it is due.
CREATE TABLE secret_revision (
  model TEXT NOT NULL,
  secret TEXT NOT NULL,
  revision INTEGER NOT NULL,
  key TEXT NOT NULL,
  data BLOB NOT NULL,
  backend TEXT NOT NULL DEFAULT '',
  target TEXT NOT NULL DEFAULT '',
  expires TEXT,
  next_expiry TEXT,
  expiry_due INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  PRIMARY KEY (model, secret, revision),
  FOREIGN KEY (model, secret) REFERENCES secret (model, id) ON DELETE CASCADE
);
CREATE INDEX secret_revision_by_expiry ON secret_revision (model, next_expiry) WHERE next_expiry IS NOT NULL;
CREATE INDEX secret_revision_to_move ON secret_revision (model) WHERE backend <> target;
CREATE INDEX secret_revision_by_backend ON secret_revision (backend) WHERE backend <> '';

-- revision: the revision that the unit reads; noted: the latest revision when it read the secret first.
CREATE TABLE secret_consumer (
  model TEXT NOT NULL,
  secret TEXT NOT NULL,
  unit TEXT NOT NULL,
  label TEXT NOT NULL DEFAULT '',
  revision INTEGER NOT NULL,
  noted INTEGER NOT NULL,
  PRIMARY KEY (model, secret, unit),
  FOREIGN KEY (model, secret) REFERENCES secret (model, id) ON DELETE CASCADE
);
CREATE INDEX secret_consumer_by_unit ON secret_consumer (model, unit, secret);

-- relation: the grant ends with this relation; NULL for grants of an admin.
CREATE TABLE secret_grant (
  model TEXT NOT NULL,
  secret TEXT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  relation INTEGER,
  PRIMARY KEY (model, secret, target),
  FOREIGN KEY (model, secret) REFERENCES secret (model, id) ON DELETE CASCADE,
  FOREIGN KEY (model, relation) REFERENCES relation (model, id) ON DELETE CASCADE
);
CREATE INDEX secret_grant_by_relation ON secret_grant (model, relation);
CREATE INDEX secret_grant_by_target ON secret_grant (model, target);

-- Content that must be deleted in a backend; its secret or its model was removed before.
CREATE TABLE secret_trash (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  backend TEXT NOT NULL,
  path TEXT NOT NULL
);
CREATE INDEX secret_trash_by_model ON secret_trash (model, id);
