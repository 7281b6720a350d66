-- The LXD profiles of charms that a container has: what was applied last (name -> config, description, devices),
-- and why what its units want is not applied. A machine that never had any has no row.
CREATE TABLE machine_profiles (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  profiles TEXT NOT NULL DEFAULT '{}',
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, machine),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
