-- The LXD profiles of charms that a container has: those applied last (name -> config, description, devices), and
-- why the profiles that its units need are not applied. A machine that never had profiles has no row.
CREATE TABLE machine_profiles (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  profiles TEXT NOT NULL DEFAULT '{}',
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, machine),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
