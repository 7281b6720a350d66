-- Network spaces and the subnets in them. Space alpha (id 0) is always there and has no row; a subnet that was not
-- moved anywhere is in it.

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

-- Somebody wants to know the machine's addresses anew: it is reached although nothing has to run there.
ALTER TABLE machine ADD COLUMN look_again INTEGER NOT NULL DEFAULT 0;
