-- Indexes for the end of every command and for the removal of applications, which would else read whole models.

CREATE INDEX status_in_error ON status (model, kind, status, entity) WHERE status = 'error';
CREATE INDEX unit_by_charm ON unit (model, charm_url);
CREATE INDEX application_by_charm ON application (model, charm_url);
