import { spaced } from '../format/code-words.js';
import { exactUsd } from '../format/money.js';
import { absoluteTime } from '../format/time.js';
import type { AuditRow } from './audit.queries.js';

/** Fields whose words are not their names with spaces. */
const FIELDS: Readonly<Record<string, string>> = {
  rpm: 'requests a minute',
  rpm_limit: 'requests a minute',
  rpd: 'requests a day',
  rpd_limit: 'requests a day',
  tpm: 'tokens a minute',
  tpm_limit: 'tokens a minute',
  spend_cap_usd: 'spend cap',
  amount_usd: 'amount',
  raise_by_usd: 'raised by',
  raise_until: 'raised until',
  // Named beside the two values that it is.
  raise: 'raised until',
  expires_at: 'end',
  team_id: 'team',
  routing_policy_template_id: 'routing policy',
  is_enabled: 'in use',
  is_hard: 'refuses requests',
  thresholds_pct: 'warns at percent',
  default_api_version: 'API version',
  api_version: 'API version',
};

/** One field of a change; without values where none were kept. */
export interface SaidChange {
  field: string;
  values?: { before: string; after: string };
}

/** Returns what was changed in words: fields with their values first, then those that are only named. */
export function changesOf({ changes, changed_fields: fields }: AuditRow, zone: string): SaidChange[] {
  // An id says nothing to people.
  const valued = changes
    .filter(({ field }) => !field.endsWith('_id'))
    .map(({ field, before, after }): SaidChange => ({
      field: fieldWords(field),
      values: { before: said(field, before, zone), after: said(field, after, zone) },
    }));
  const known = new Set(valued.map(({ field }) => field));
  const named = [...new Set(fields.map(fieldWords))].filter((field) => !known.has(field));
  return [...valued, ...named.map((field) => ({ field }))];
}

function fieldWords(field: string): string {
  return FIELDS[field] ?? spaced(field);
}

function said(field: string, value: unknown, zone: string): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value !== 'string') return 'something else';
  if (field.endsWith('_usd')) return exactUsd(value);
  if (field === 'expires_at' || field === 'raise_until') return absoluteTime(value, zone);
  return value;
}
