-- Contacts with machines that have ended: result is ok, failed or unreachable.
CREATE TABLE contact (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  begun TEXT NOT NULL,
  ended TEXT NOT NULL,
  result TEXT NOT NULL
);
CREATE INDEX contact_by_end ON contact (model, ended, begun);
