-- What clients of /v1/responses leave between requests. `json`, not `jsonb`, and nothing is
-- taken out of it by an operator: a model may write a NUL, which both refuse.
CREATE TABLE responses (
  key_id text NOT NULL,
  id text NOT NULL,
  account_id text NOT NULL,
  end_user_hash text,
  credential text,
  previous_id text,
  conversation_id text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  input json NOT NULL,
  output json NOT NULL,
  response json NOT NULL,
  PRIMARY KEY (key_id, id)
);
CREATE INDEX responses_expiry ON responses (expires_at);
CREATE INDEX responses_end_user ON responses (account_id, end_user_hash) WHERE end_user_hash IS NOT NULL;

CREATE TABLE conversations (
  key_id text NOT NULL,
  id text NOT NULL,
  account_id text NOT NULL,
  created_at timestamptz NOT NULL,
  metadata json NOT NULL,
  PRIMARY KEY (key_id, id)
);

CREATE TABLE conversation_items (
  position bigserial PRIMARY KEY,
  key_id text NOT NULL,
  conversation_id text NOT NULL,
  id text NOT NULL,
  item json NOT NULL,
  FOREIGN KEY (key_id, conversation_id) REFERENCES conversations (key_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX conversation_items_place ON conversation_items (key_id, conversation_id, id);
CREATE INDEX conversation_items_order ON conversation_items (key_id, conversation_id, position);
