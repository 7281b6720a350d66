-- The version of its workload that a unit set last. The application has the newest of these versions; a new unit makes
-- it empty until any unit sets its version.
CREATE TABLE workload_version (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  application TEXT NOT NULL,
  version TEXT NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (model, unit),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE
);
CREATE INDEX workload_version_by_time ON workload_version (model, application, since);
INSERT INTO workload_version (model, unit, application, version, since)
SELECT u.model, u.name, u.application, a.workload_version, u.created
FROM unit u JOIN application a ON a.model = u.model AND a.name = u.application WHERE a.workload_version <> '';
CREATE TRIGGER change_workload_version_insert AFTER INSERT ON workload_version BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'unit', NEW.unit);
END;
CREATE TRIGGER change_workload_version_update AFTER UPDATE ON workload_version
WHEN OLD.version <> NEW.version BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'unit', NEW.unit);
END;
