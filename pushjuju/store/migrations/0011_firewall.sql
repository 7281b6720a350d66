-- From where an application's ports may be reached, and the rules in force on machines.

-- endpoint: '' for all endpoints without a row of their own; spaces and cidrs are lists.
CREATE TABLE exposed_endpoint (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  spaces TEXT NOT NULL DEFAULT '[]',
  cidrs TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (model, application, endpoint),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

-- changes: number of changes that may have changed the rules of a machine; seen: how many were handled. applied: the
-- digest of the rules in force since boot boot_id. peers: addresses from which its SSH port was reached.
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
