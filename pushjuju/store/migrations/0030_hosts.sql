-- What the hosts of a controller share through a database; a store in a file has these as files beside itself, and
-- the tables are empty. Copies of a store leave them out.
CREATE TABLE blob (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL
) WITHOUT ROWID;
-- Pieces of 1 MiB. Those without a row in blob are of an upload that runs, or was interrupted.
CREATE TABLE blob_chunk (
  sha256 TEXT NOT NULL,
  n INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (sha256, n)
) WITHOUT ROWID;
-- Host keys of machines. name: as in known_hosts. accepted: a user accepted the key instead of the provider's.
CREATE TABLE host_key (
  model TEXT NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (model, name, key)
) WITHOUT ROWID;
-- Files with keys and credentials, encrypted with the controller key, which is in no database.
CREATE TABLE vault (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  sealed BLOB NOT NULL
) WITHOUT ROWID;
