-- Files of callers and of batches. Their content is in the object store under `files/<account_id>/<id>.bin`.
CREATE TABLE files (
  id text PRIMARY KEY,
  key_id text NOT NULL,
  account_id text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  bytes bigint NOT NULL,
  filename text NOT NULL,
  purpose text NOT NULL
);
CREATE INDEX files_of_key ON files (key_id, created_at DESC, id DESC);
CREATE INDEX files_expiry ON files (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE batches (
  id text PRIMARY KEY,
  key_id text NOT NULL,
  account_id text NOT NULL,
  org_id text,
  -- Of the request that made it: line n is unit n of it.
  request_id text NOT NULL,
  endpoint text NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  input_file_id text NOT NULL,
  output_seconds integer,
  metadata json,
  status text NOT NULL,
  errors json,
  total integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  usage json,
  output_file_id text,
  error_file_id text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  -- Who works on it, and until when nobody else takes it over.
  worker text,
  leased_until timestamptz
);
CREATE INDEX batches_of_key ON batches (key_id, created_at DESC, id DESC);
CREATE INDEX batches_open ON batches (created_at) WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling');

-- Lines that have their answer, until the result files are written. `json` would be parsed for nothing.
CREATE TABLE batch_results (
  batch_id text NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  line integer NOT NULL,
  is_error boolean NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (batch_id, line)
);

CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  topic text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  sent_at timestamptz(3)
);
