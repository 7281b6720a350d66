-- Offers, what other models consume of them, and relations between models of one controller.

-- A relation between two models has a row in each model. far_model and far_relation name the other row, far_alias is
-- the other model's name for the application on this side; all are empty for a relation inside one model.
-- offer: the UUID of the offer, on the offering side.
ALTER TABLE relation ADD COLUMN far_model TEXT NOT NULL DEFAULT '';
ALTER TABLE relation ADD COLUMN far_relation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relation ADD COLUMN far_alias TEXT NOT NULL DEFAULT '';
ALTER TABLE relation ADD COLUMN offer TEXT NOT NULL DEFAULT '';
CREATE INDEX relation_by_offer ON relation (offer) WHERE offer <> '';
CREATE INDEX relation_to_other_models ON relation (model) WHERE far_model <> '';

-- 1 as soon as an application has been offered; else consumers are never looked for.
ALTER TABLE application ADD COLUMN offered INTEGER NOT NULL DEFAULT 0;

-- endpoints: name of the endpoint in the offer -> the application's endpoint.
CREATE TABLE offer (
  uuid TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  name TEXT NOT NULL,
  application TEXT NOT NULL,
  endpoints TEXT NOT NULL,
  created TEXT NOT NULL,
  UNIQUE (model, name),
  FOREIGN KEY (model, application) REFERENCES application (model, name) ON DELETE CASCADE
);
CREATE INDEX offer_by_application ON offer (model, application);

-- An application of another model, as this model sees it: a consumed application, with its url; or, on the offering
-- side, the proxy of a consumer, without url. source and application: its model, and its name in that model.
-- endpoints: name -> interface and role.
CREATE TABLE remote_application (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL DEFAULT '',
  offer TEXT NOT NULL,
  source TEXT NOT NULL,
  application TEXT NOT NULL,
  life TEXT NOT NULL,
  endpoints TEXT NOT NULL,
  created TEXT NOT NULL,
  PRIMARY KEY (model, name)
);
CREATE INDEX remote_application_by_offer ON remote_application (offer);
CREATE INDEX remote_application_by_source ON remote_application (source, application);
