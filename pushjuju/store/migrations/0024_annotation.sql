-- Annotations of all kinds of entities in one table; they are deleted with the entities.
-- kind: model, application, machine, unit, storage. owner: the UUID of the model, the name or id of another entity.
CREATE TABLE annotation (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (model, kind, owner, key)
) WITHOUT ROWID;

INSERT INTO annotation (model, kind, owner, key, value)
SELECT model, 'application', application, key, value FROM application_annotation
UNION ALL SELECT model, 'machine', machine, key, value FROM machine_annotation;
DROP TABLE application_annotation;
DROP TABLE machine_annotation;

CREATE TRIGGER annotation_of_application AFTER DELETE ON application BEGIN
  DELETE FROM annotation WHERE model = OLD.model AND kind = 'application' AND owner = OLD.name;
END;
CREATE TRIGGER annotation_of_machine AFTER DELETE ON machine BEGIN
  DELETE FROM annotation WHERE model = OLD.model AND kind = 'machine' AND owner = OLD.id;
END;
CREATE TRIGGER annotation_of_unit AFTER DELETE ON unit BEGIN
  DELETE FROM annotation WHERE model = OLD.model AND kind = 'unit' AND owner = OLD.name;
END;
CREATE TRIGGER annotation_of_storage AFTER DELETE ON storage_instance BEGIN
  DELETE FROM annotation WHERE model = OLD.model AND kind = 'storage' AND owner = OLD.id;
END;

CREATE TRIGGER change_annotation_insert AFTER INSERT ON annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', NEW.kind || '-' || REPLACE(NEW.owner, '/', '-'));
END;
CREATE TRIGGER change_annotation_update AFTER UPDATE ON annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', NEW.kind || '-' || REPLACE(NEW.owner, '/', '-'));
END;
CREATE TRIGGER change_annotation_delete AFTER DELETE ON annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'annotation', OLD.kind || '-' || REPLACE(OLD.owner, '/', '-'));
END;
