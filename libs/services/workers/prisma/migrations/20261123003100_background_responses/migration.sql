-- Responses that nobody waits for. Their row in `responses` is there from the beginning, open until they have ended.
ALTER TABLE responses ADD COLUMN is_open boolean NOT NULL DEFAULT false;

CREATE TABLE background_tasks (
  id text PRIMARY KEY,
  key_id text NOT NULL,
  account_id text NOT NULL,
  request_id text NOT NULL,
  -- Number of the unit that runs it: one that ended without an answer is followed by another.
  unit integer NOT NULL DEFAULT 0,
  body json NOT NULL,
  -- Who may add events: a run that was taken over may not.
  run text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  worker text,
  leased_until timestamptz,
  FOREIGN KEY (key_id, id) REFERENCES responses (key_id, id) ON DELETE CASCADE
);
CREATE INDEX background_tasks_of_key ON background_tasks (key_id, id);
CREATE INDEX background_tasks_order ON background_tasks (created_at);

-- What a stream of one has said, for whoever resumes it, as long as the response is kept.
CREATE TABLE background_events (
  key_id text NOT NULL,
  id text NOT NULL,
  number integer NOT NULL,
  event json NOT NULL,
  PRIMARY KEY (key_id, id, number),
  FOREIGN KEY (key_id, id) REFERENCES responses (key_id, id) ON DELETE CASCADE
);
