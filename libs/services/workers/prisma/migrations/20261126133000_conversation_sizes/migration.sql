-- What a conversation holds, so that it can be bounded without reading it.
ALTER TABLE conversations ADD COLUMN items integer NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE conversations c SET items = held.items, bytes = held.bytes FROM (
  SELECT key_id, conversation_id, count(*) AS items, sum(octet_length(item::text)) AS bytes
  FROM conversation_items GROUP BY key_id, conversation_id) held
WHERE c.key_id = held.key_id AND c.id = held.conversation_id;
