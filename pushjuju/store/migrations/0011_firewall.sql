-- Who may reach an application's ports from outside, and what of it is in force on the machines.

-- endpoint: empty for all that have no row of their own; spaces and cidrs are lists.
CREATE TABLE exposed_endpoint (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  spaces TEXT NOT NULL DEFAULT '[]',
  cidrs TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (model, application, endpoint),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

-- changes counts what may have changed the rules of a machine; seen, how many of that were looked at. applied: the
-- digest of the rules in force, from the boot boot_id on. peers: from where its SSH port was reached.
CREATE TABLE machine_firewall (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  changes INTEGER NOT NULL DEFAULT 1,
  seen INTEGER NOT NULL DEFAULT 0,
  applied TEXT NOT NULL DEFAULT '',
  applied_at TEXT,
  boot_id TEXT NOT NULL DEFAULT '',
  ssh_port INTEGER NOT NULL DEFAULT 0,
  peers TEXT NOT NULL DEFAULT '[]',
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, machine),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
