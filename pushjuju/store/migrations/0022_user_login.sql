-- How users log in over the network; admin has a row, too, once a password was set.
-- generation grows with each change of the password, which ends earlier connections.
CREATE TABLE user_login (
  name TEXT PRIMARY KEY,
  password TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 0,
  last_connection TEXT
);
