import type { Rejection } from './requests.queries.js';

const SCOPES: Readonly<Record<string, string>> = {
  key: 'the key',
  team_member: 'the member in the team',
  member: 'the member in the organization',
  team: 'the team',
  org: 'the organization',
  account: 'the account',
};

const LIMITS: Readonly<Record<string, string>> = {
  rpm: 'requests a minute',
  rpd: 'requests a day of UTC',
  tpm: 'tokens a minute',
  spend_cap: 'spend cap',
  balance: 'balance',
};

/** Returns the limit that rejected the request, with its scope; null where no limit did. */
export function limitWords({ limit_type: type, scope }: Rejection): string | null {
  if (type === null) return null;
  const limit = LIMITS[type] ?? type;
  return scope === null ? limit : `${limit} of ${SCOPES[scope] ?? scope}`;
}

/** True if running requests held the money that was missing: nothing has to be raised. */
export function isHeld({ money }: Pick<Rejection, 'money'>): boolean {
  return money?.is_final === false;
}

/** Returns the event after which a limit without a clock is open again. */
export function opensWith({ limit_type: type, scope, money }: Rejection): string {
  if (isHeld({ money })) return 'when what was running has ended';
  if (type === 'balance') return 'with credit';
  return scope === 'key'
    ? 'when the cap is raised'
    : 'when the cap is raised, or old spend leaves its 30 days';
}

/** Codes of a key's own settings, not of its limits. */
const BY_THE_KEY = new Set([
  'forbidden',
  'model_excluded',
  'model_not_found',
  'model_not_available_on_pinned_provider',
]);

/**
 * Returns the page where the cause of a rejection is changed, below /o/{org}; null where the request itself has to
 * change.
 */
export function mendingPlace({ code, limit_type: type, scope, key_id: key }: Rejection): {
  path: string;
  label: string;
} | null {
  if (type === 'balance') return { path: '/billing', label: 'Add credit' };
  if (type !== null && scope !== 'key') return { path: '/limits', label: 'Open the limits' };
  if (type !== null) return { path: `/keys/${key}`, label: 'Open the limits of the key' };
  return BY_THE_KEY.has(code) ? { path: `/keys/${key}`, label: 'Open the key' } : null;
}
