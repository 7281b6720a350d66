-- How users log in over the network; admin too has a row once a password was set.
-- generation grows with each change of the password: connections of the time before end.
CREATE TABLE user_login (
  name TEXT PRIMARY KEY,
  password TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 0,
  last_connection TEXT
);
