-- Network spaces and their subnets. Space alpha (id 0) always exists and has no row; a subnet that was not moved to
-- another space is in alpha.

CREATE TABLE space (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (model, id),
  UNIQUE (model, name)
);

CREATE TABLE subnet (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  cidr TEXT NOT NULL,
  space TEXT NOT NULL DEFAULT '0',
  PRIMARY KEY (model, cidr)
);

-- look_again: 1 when the machine's addresses must be read again, even if no operation has to run there.
ALTER TABLE machine ADD COLUMN look_again INTEGER NOT NULL DEFAULT 0;
