-- Ids of the items of each response, for requests that name them (`item_reference`).
ALTER TABLE responses ADD COLUMN item_ids text[] NOT NULL DEFAULT '{}';
CREATE INDEX responses_items ON responses USING gin (item_ids);
