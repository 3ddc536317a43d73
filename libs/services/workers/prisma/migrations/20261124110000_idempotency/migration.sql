-- Answers of creates by Idempotency-Key, for a day.
CREATE TABLE idempotency (
  scope text NOT NULL,
  key text NOT NULL,
  body_digest text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  status integer,
  body jsonb,
  PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_created_at_idx ON idempotency (created_at);
