-- How many hooks ran and how long, for metrics: the recorded operations are deleted after a while, these counts grow.
-- hook: the kind, without names of relations and storage. bound_ms: the runs took at most this long, and longer than
-- the next smaller bound; 0 for runs above the largest bound.
CREATE TABLE hook_tally (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  hook TEXT NOT NULL,
  result TEXT NOT NULL,
  bound_ms INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL,
  PRIMARY KEY (model, application, hook, result, bound_ms),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);
