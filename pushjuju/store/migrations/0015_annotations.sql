-- Annotations: key-value pairs that users and tools add to entities; they are deleted with the entities.

CREATE TABLE application_annotation (
  model TEXT NOT NULL,
  application TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, application, key),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);

CREATE TABLE machine_annotation (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, machine, key),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
