-- What all lines of a batch may cost together, in nano-USD: what is held for those that have not begun.
ALTER TABLE batches ADD COLUMN worth_nano bigint;
