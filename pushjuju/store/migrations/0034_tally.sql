-- What is counted for metrics, besides hooks. labels: their values as a JSON list. bound_ms: the upper bound of the
-- durations that a row counts, 0 for longer ones, and where no durations are counted.
CREATE TABLE tally (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  metric TEXT NOT NULL,
  labels TEXT NOT NULL,
  bound_ms INTEGER NOT NULL,
  number INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL,
  PRIMARY KEY (model, metric, labels, bound_ms)
) WITHOUT ROWID;
