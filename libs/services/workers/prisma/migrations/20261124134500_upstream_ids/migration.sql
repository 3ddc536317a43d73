-- Whose a provider's batch is; the expression is that of BatchStore.unclaimed.
CREATE INDEX batches_upstream_id ON batches ((coalesce(upstream #>> '{state,id}', upstream ->> 'id')))
  WHERE upstream IS NOT NULL;
