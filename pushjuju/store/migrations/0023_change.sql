-- What has changed, for those who watch a model: they read what is named here, not the whole model.
-- kind: model, charm, machine, application, unit, units (all of an application), relation, remote, offer,
-- annotation, block, action, progress (what a task logged), upgrade (messages of a machine's upgrade).
-- Numbers grow in the order of the commits. No reference to model: who watches learns of its end, too.
CREATE TABLE change (
  number INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL
);
-- Some thousand are kept; who has missed more reads the model anew. The newest is never deleted, so no number is
-- given twice.
CREATE TRIGGER change_pruned AFTER INSERT ON change WHEN NEW.number % 1024 = 0 BEGIN
  DELETE FROM change WHERE number <= NEW.number - 8192;
END;

-- model
CREATE TRIGGER change_model_insert AFTER INSERT ON model BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.uuid, 'model', NEW.uuid);
END;
CREATE TRIGGER change_model_update AFTER UPDATE ON model BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.uuid, 'model', NEW.uuid);
END;
CREATE TRIGGER change_model_delete AFTER DELETE ON model BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.uuid, 'model', OLD.uuid);
END;

-- model_config
CREATE TRIGGER change_model_config_insert AFTER INSERT ON model_config BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'model', NEW.model);
END;
CREATE TRIGGER change_model_config_update AFTER UPDATE ON model_config BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'model', NEW.model);
END;
CREATE TRIGGER change_model_config_delete AFTER DELETE ON model_config BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'model', OLD.model);
END;

-- model_constraints
CREATE TRIGGER change_model_constraints_insert AFTER INSERT ON model_constraints BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'model', NEW.model);
END;
CREATE TRIGGER change_model_constraints_update AFTER UPDATE ON model_constraints BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'model', NEW.model);
END;
CREATE TRIGGER change_model_constraints_delete AFTER DELETE ON model_constraints BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'model', OLD.model);
END;

-- status
CREATE TRIGGER change_status_insert AFTER INSERT ON status
WHEN NEW.kind NOT IN ('volume', 'filesystem') BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, CASE NEW.kind
    WHEN 'workload' THEN 'unit' WHEN 'juju-unit' THEN 'unit' WHEN 'juju-machine' THEN 'machine' ELSE NEW.kind
  END, NEW.entity);
END;
CREATE TRIGGER change_status_update AFTER UPDATE ON status
WHEN NEW.kind NOT IN ('volume', 'filesystem') BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, CASE NEW.kind
    WHEN 'workload' THEN 'unit' WHEN 'juju-unit' THEN 'unit' WHEN 'juju-machine' THEN 'machine' ELSE NEW.kind
  END, NEW.entity);
END;
CREATE TRIGGER change_status_delete AFTER DELETE ON status
WHEN OLD.kind NOT IN ('volume', 'filesystem') BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, CASE OLD.kind
    WHEN 'workload' THEN 'unit' WHEN 'juju-unit' THEN 'unit' WHEN 'juju-machine' THEN 'machine' ELSE OLD.kind
  END, OLD.entity);
END;

-- charm
CREATE TRIGGER change_charm_insert AFTER INSERT ON charm BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'charm', NEW.url);
END;
CREATE TRIGGER change_charm_update AFTER UPDATE ON charm BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'charm', NEW.url);
END;
CREATE TRIGGER change_charm_delete AFTER DELETE ON charm BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'charm', OLD.url);
END;

-- machine
CREATE TRIGGER change_machine_insert AFTER INSERT ON machine BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'machine', NEW.id);
END;
CREATE TRIGGER change_machine_update AFTER UPDATE OF life, base, instance_id, hostname, hardware, addresses, ssh, unreachable_since ON machine
WHEN (OLD.life, OLD.base, OLD.instance_id, OLD.hostname, OLD.hardware, OLD.addresses, OLD.ssh, OLD.unreachable_since) IS NOT (NEW.life, NEW.base, NEW.instance_id, NEW.hostname, NEW.hardware, NEW.addresses, NEW.ssh, NEW.unreachable_since) BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'machine', NEW.id);
END;
CREATE TRIGGER change_machine_delete AFTER DELETE ON machine BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'machine', OLD.id);
END;

-- application
CREATE TRIGGER change_application_insert AFTER INSERT ON application BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'application', NEW.name);
END;
CREATE TRIGGER change_application_update AFTER UPDATE OF life, charm_url, subordinate, base, exposed, constraints, workload_version ON application
WHEN (OLD.life, OLD.charm_url, OLD.subordinate, OLD.base, OLD.exposed, OLD.constraints, OLD.workload_version) IS NOT (NEW.life, NEW.charm_url, NEW.subordinate, NEW.base, NEW.exposed, NEW.constraints, NEW.workload_version) BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'application', NEW.name);
END;
CREATE TRIGGER change_application_delete AFTER DELETE ON application BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'application', OLD.name);
END;
CREATE TRIGGER change_application_update_of_units AFTER UPDATE OF charm_url, base ON application
WHEN (OLD.charm_url, OLD.base) IS NOT (NEW.charm_url, NEW.base) BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'units', NEW.name);
END;

-- application_setting
CREATE TRIGGER change_application_setting_insert AFTER INSERT ON application_setting BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'application', NEW.application);
END;
CREATE TRIGGER change_application_setting_update AFTER UPDATE ON application_setting BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'application', NEW.application);
END;
CREATE TRIGGER change_application_setting_delete AFTER DELETE ON application_setting BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'application', OLD.application);
END;

-- unit
CREATE TRIGGER change_unit_insert AFTER INSERT ON unit BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'unit', NEW.name);
END;
CREATE TRIGGER change_unit_update AFTER UPDATE OF life, machine, principal, charm_url ON unit
WHEN (OLD.life, OLD.machine, OLD.principal, OLD.charm_url) IS NOT (NEW.life, NEW.machine, NEW.principal, NEW.charm_url) BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'unit', NEW.name);
END;
CREATE TRIGGER change_unit_delete AFTER DELETE ON unit BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'unit', OLD.name);
END;

-- port
CREATE TRIGGER change_port_insert AFTER INSERT ON port BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'unit', NEW.unit);
END;
CREATE TRIGGER change_port_delete AFTER DELETE ON port BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'unit', OLD.unit);
END;

-- relation
CREATE TRIGGER change_relation_insert AFTER INSERT ON relation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'relation', NEW.id);
END;
CREATE TRIGGER change_relation_update AFTER UPDATE ON relation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'relation', NEW.id);
END;
CREATE TRIGGER change_relation_delete AFTER DELETE ON relation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'relation', OLD.id);
END;

-- relation_endpoint
CREATE TRIGGER change_relation_endpoint_insert AFTER INSERT ON relation_endpoint BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'relation', NEW.relation);
END;
CREATE TRIGGER change_relation_endpoint_update AFTER UPDATE ON relation_endpoint BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'relation', NEW.relation);
END;
CREATE TRIGGER change_relation_endpoint_delete AFTER DELETE ON relation_endpoint BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'relation', OLD.relation);
END;

-- remote_application
CREATE TRIGGER change_remote_application_insert AFTER INSERT ON remote_application BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'remote', NEW.name);
END;
CREATE TRIGGER change_remote_application_update AFTER UPDATE ON remote_application BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'remote', NEW.name);
END;
CREATE TRIGGER change_remote_application_delete AFTER DELETE ON remote_application BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'remote', OLD.name);
END;

-- offer
CREATE TRIGGER change_offer_insert AFTER INSERT ON offer BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'offer', NEW.name);
END;
CREATE TRIGGER change_offer_update AFTER UPDATE ON offer BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'offer', NEW.name);
END;
CREATE TRIGGER change_offer_delete AFTER DELETE ON offer BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'offer', OLD.name);
END;

-- application_annotation
CREATE TRIGGER change_application_annotation_insert AFTER INSERT ON application_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', 'application-' || NEW.application);
END;
CREATE TRIGGER change_application_annotation_update AFTER UPDATE ON application_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', 'application-' || NEW.application);
END;
CREATE TRIGGER change_application_annotation_delete AFTER DELETE ON application_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'annotation', 'application-' || OLD.application);
END;

-- machine_annotation
CREATE TRIGGER change_machine_annotation_insert AFTER INSERT ON machine_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', 'machine-' || REPLACE(NEW.machine, '/', '-'));
END;
CREATE TRIGGER change_machine_annotation_update AFTER UPDATE ON machine_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'annotation', 'machine-' || REPLACE(NEW.machine, '/', '-'));
END;
CREATE TRIGGER change_machine_annotation_delete AFTER DELETE ON machine_annotation BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'annotation', 'machine-' || REPLACE(OLD.machine, '/', '-'));
END;

-- block
CREATE TRIGGER change_block_insert AFTER INSERT ON block BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'block', NEW.type);
END;
CREATE TRIGGER change_block_update AFTER UPDATE ON block BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'block', NEW.type);
END;
CREATE TRIGGER change_block_delete AFTER DELETE ON block BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'block', OLD.type);
END;

-- task
CREATE TRIGGER change_task_insert AFTER INSERT ON task BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'action', NEW.id);
END;
CREATE TRIGGER change_task_update AFTER UPDATE ON task BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'action', NEW.id);
END;
CREATE TRIGGER change_task_delete AFTER DELETE ON task BEGIN
  INSERT INTO change (model, kind, entity) VALUES (OLD.model, 'action', OLD.id);
END;

-- task_log
CREATE TRIGGER change_task_log_insert AFTER INSERT ON task_log BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'progress', NEW.task);
END;

-- machine_upgrade_message
CREATE TRIGGER change_machine_upgrade_message_insert AFTER INSERT ON machine_upgrade_message BEGIN
  INSERT INTO change (model, kind, entity) VALUES (NEW.model, 'upgrade', NEW.machine);
END;
