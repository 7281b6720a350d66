-- Changes that concern the firewalls of all machines of a model: one row is written, not one for each machine.
CREATE TABLE model_firewall (
  model TEXT PRIMARY KEY REFERENCES model (uuid) ON DELETE CASCADE,
  changes INTEGER NOT NULL
);
