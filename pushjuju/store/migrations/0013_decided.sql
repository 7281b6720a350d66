-- The decisions behind operations that failed, for `replay`: the newest few of each unit.

CREATE TABLE decided (
  operation TEXT PRIMARY KEY REFERENCES operation (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  kept TEXT NOT NULL,
  record TEXT NOT NULL
);
CREATE INDEX decided_by_unit ON decided (model, unit, kept);
