import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { asProblem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { session } from '../api/session.js';
import type { Me } from '../session/rights.js';

const MODELS_SHOWN = 50;
const COST_TRIES = 20;
const COST_EVERY_MS = 1_000;
const COST_EVERY_MS_MAX = 5_000;

/** Text models by a bounded search. */
export function useTextModels(q: string): UseQueryResult<Schemas['ModelView'][]> {
  return useQuery({
    queryKey: ['models', 'text', q],
    queryFn: async () => {
      const query = {
        type: 'text' as const,
        available: true,
        limit: MODELS_SHOWN,
        ...(q === '' ? {} : { q }),
      };
      return (await bodyOf(api.GET('/v1/models/search', { params: { query } }))).data;
    },
    placeholderData: (shown) => shown,
  });
}

/** Reads the cost of an answer in the ledger, where it comes seconds after the answer. */
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
/** A request that is being written still finds a key that lives. */
const AHEAD_MS = 900_000;
const GRACE_SECONDS = 900;

type Person = Pick<Me['user'], 'id' | 'name'>;

interface OwnKey {
  id: string;
  secret: string;
}

/** Secrets in memory only, one per organization; another visit rotates it. */
const secrets = new Map<string, { key: Promise<OwnKey>; until: number }>();

// Who signs in next in this tab is somebody else, and pays with a key of their own.
session.subscribe(() => {
  if (session.get().state === 'out') secrets.clear();
});

/** The key that the playground spends with: the person's own, with a cap and a day to live. */
export async function playgroundKey(org: string | null, person: Person, nowMs: number): Promise<string> {
  const place = org ?? '';
  const known = secrets.get(place);
  if (known !== undefined && nowMs < known.until) return (await known.key).secret;
  const expiresAt = nowMs + LIFE_MS;
  const made = {
    key: makeKey(org, person, new Date(expiresAt).toISOString()),
    until: expiresAt - AHEAD_MS,
  };
  secrets.set(place, made);
  // A failure is not kept: the next try begins anew.
  made.key.catch(() => secrets.get(place) === made && secrets.delete(place));
  return (await made.key).secret;
}

const SPENT_EVERY_MS = 5_000;

/** Reads the spend of the key that this visit has used; nothing before its first answer. */
export function useSpent(
  org: string | null,
  isUsed: boolean,
): UseQueryResult<Pick<Schemas['ApiKeyRecord'], 'spent_usd' | 'spend_cap_usd'>> {
  return useQuery({
    queryKey: [org, 'playground', 'spent'],
    enabled: isUsed,
    queryFn: async () => {
      const { id } = (await secrets.get(org ?? '')?.key) ?? { id: '' };
      return bodyOf(api.GET('/v1/keys/{id}', { params: { path: { id } } }));
    },
    refetchInterval: SPENT_EVERY_MS,
    retry: false,
  });
}

/** Reads one model, with its price and whether it can be called. */
export function useModelOf(id: string): UseQueryResult<Schemas['ModelView']> {
  const [brand = '', ...name] = id.split('/');
  const path = { brand, name: name.join('/') };
  return useQuery({
    queryKey: ['model', path],
    queryFn: () => bodyOf(api.GET('/v1/models/{brand}/{name}', { params: { path } })),
    // The lane is whole without it.
    retry: false,
  });
}

async function makeKey(org: string | null, { id, name }: Person, expiresAt: string): Promise<OwnKey> {
  const label = `Playground (${name})`.slice(0, 200);
  const ofOrg = org === null ? {} : { org_id: org };
  // An admin sees the keys of all, and people share names.
  const query = { ...keysOf(org), created_by: id, label, status: 'active' as const };
  const found = (await bodyOf(api.GET('/v1/keys', { params: { query } }))).data;
  const own = found.find((key) => key.label === label && key.org_id === org);
  if (own === undefined) {
    const body = { ...ofOrg, label, spend_cap_usd: CAP_USD, expires_at: expiresAt };
    const headers = { 'Idempotency-Key': newIdempotencyKey() };
    const made = await bodyOf(api.POST('/v1/keys', { body, headers }));
    return { id: made.id, secret: made.key ?? '' };
  }
  const path = { id: own.id };
  await bodyOf(api.PATCH('/v1/keys/{id}', { params: { path }, body: { expires_at: expiresAt } }));
  const body = { grace_seconds: GRACE_SECONDS };
  const rotated = await bodyOf(api.POST('/v1/keys/{id}/rotate', { params: { path }, body }));
  return { id: own.id, secret: rotated.key };
}
