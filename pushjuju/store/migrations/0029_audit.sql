-- Who changed what. The transaction of a change writes the line, so neither exists without the other.
-- line: JSON, no value of a setting or secret. hash: SHA-256 over the hash of the line before, number, time and
-- line (services/entities/basis/audit.py), so that a changed or missing line shows.
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  time TEXT NOT NULL,
  line TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (time, number);
