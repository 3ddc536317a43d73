-- Where a provider that runs a batch itself has it; null: its lines are run one by one.
ALTER TABLE batches ADD COLUMN upstream json;

-- What such a provider has answered to lines, until each is priced and in the results.
CREATE TABLE batch_answers (
  batch_id text NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  line integer NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (batch_id, line)
);
