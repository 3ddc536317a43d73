import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { asProblem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';

const MODELS_SHOWN = 50;
const COST_TRIES = 20;
const COST_EVERY_MS = 1_000;
const COST_EVERY_MS_MAX = 5_000;

/** Text models by a bounded search. */
export function useTextModels(q: string): UseQueryResult<Schemas['ModelView'][]> {
  return useQuery({
    queryKey: ['models', 'text', q],
    queryFn: async () => {
      const query = { type: 'text' as const, limit: MODELS_SHOWN, ...(q === '' ? {} : { q }) };
      return (await bodyOf(api.GET('/v1/models/search', { params: { query } }))).data;
    },
    placeholderData: (shown) => shown,
  });
}

/** What an answer cost, as the ledger has it; it comes seconds after the answer. */
export function useCost(org: string | null, requestId: string | null): UseQueryResult<string | null> {
  const query = org === null ? {} : { org_id: org };
  return useQuery({
    queryKey: [org, 'cost', requestId],
    enabled: requestId !== null && org !== null,
    queryFn: async () => {
      const path = { id: requestId ?? '' };
      return (await bodyOf(api.GET('/v1/usage/requests/{id}', { params: { path, query } }))).cost_usd;
    },
    retry: (failures, failure) => failures < COST_TRIES && [404, 503].includes(asProblem(failure).status),
    retryDelay: (failures) => Math.min(COST_EVERY_MS * 1.5 ** failures, COST_EVERY_MS_MAX),
    staleTime: Infinity,
  });
}

const CAP_USD = '5';
const LIFE_MS = 86_400_000;
const GRACE_SECONDS = 900;

/** In memory only, one per person and organization; another visit rotates it. */
const secrets = new Map<string, Promise<string>>();

/** The key that the playground spends with: the person's own, with a cap and a day to live. */
export function playgroundKey(org: string | null, person: string): Promise<string> {
  const place = org ?? '';
  const known = secrets.get(place);
  if (known !== undefined) return known;
  const made = makeKey(org, `Playground (${person})`.slice(0, 200));
  secrets.set(place, made);
  // A failure is not kept: the next try begins anew.
  made.catch(() => secrets.delete(place));
  return made;
}

async function makeKey(org: string | null, label: string): Promise<string> {
  const expiresAt = new Date(Date.now() + LIFE_MS).toISOString();
  const ofOrg = org === null ? {} : { org_id: org };
  const query = { ...keysOf(org), label, status: 'active' as const };
  const found = (await bodyOf(api.GET('/v1/keys', { params: { query } }))).data;
  const own = found.find((key) => key.label === label && key.org_id === org);
  if (own === undefined) {
    const body = { ...ofOrg, label, spend_cap_usd: CAP_USD, expires_at: expiresAt };
    const headers = { 'Idempotency-Key': newIdempotencyKey() };
    return (await bodyOf(api.POST('/v1/keys', { body, headers }))).key ?? '';
  }
  const path = { id: own.id };
  await bodyOf(api.PATCH('/v1/keys/{id}', { params: { path }, body: { expires_at: expiresAt } }));
  const body = { grace_seconds: GRACE_SECONDS };
  return (await bodyOf(api.POST('/v1/keys/{id}/rotate', { params: { path }, body }))).key;
}
