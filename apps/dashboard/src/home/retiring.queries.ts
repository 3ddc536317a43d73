import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Model } from '../models/models.queries.js';

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Models that are looked at: as many groups as a series has. */
const MODELS_MAX = 20;
const STALE_MS = 600_000;

/** Returns models that are retired within 30 days and that the organization has used in the last 30; none until known. */
export function useRetiring(org: string): Model[] {
  const [nowMs] = useState(() => Date.now());
  const retires_before = new Date(nowMs + (DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { retires_before, limit: MODELS_MAX };
  const soon = useQuery({
    queryKey: ['models', query],
    queryFn: async () => (await bodyOf(api.GET('/v1/models/search', { params: { query } }))).data,
    staleTime: STALE_MS,
  });
  const models = soon.data ?? [];
  const body = {
    org_id: org,
    since: new Date(nowMs - DAYS * DAY_MS).toISOString(),
    granularity: 'day' as const,
    group_by: 'model',
    top: MODELS_MAX,
    model: models.map(({ id }) => id),
    status: ['success'],
  };
  const used = useQuery({
    enabled: models.length > 0,
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } })),
    staleTime: STALE_MS,
  });
  const totals = used.data?.totals ?? {};
  return models
    .filter(({ id }) => Object.hasOwn(totals, id) && totals[id].requests > 0)
    .sort((one, other) => ((one.retires_at ?? '') < (other.retires_at ?? '') ? -1 : 1));
}
