-- Tokens that stand for a user: a link that logs a browser in once, or the right to read metrics. digest: SHA-256 of the
-- token, which is nowhere kept.
CREATE TABLE token (
  digest TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  person TEXT NOT NULL,
  until TEXT
);
