-- The controller processes that take what becomes due. owner: host, pid and start, as in work.owner.
CREATE TABLE process (
  owner TEXT PRIMARY KEY,
  version TEXT NOT NULL,
  started TEXT NOT NULL,
  draining INTEGER NOT NULL DEFAULT 0
);
