-- What is looked up at the end of every command, and when an application goes, without a walk through the model.

CREATE INDEX status_in_error ON status (model, kind, status, entity) WHERE status = 'error';
CREATE INDEX unit_by_charm ON unit (model, charm_url);
CREATE INDEX application_by_charm ON application (model, charm_url);
