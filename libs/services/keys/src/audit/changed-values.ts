import { money } from '../postgres/columns.js';

/** Values of a change by column: before it and after it. */
export type ChangedValues = Record<string, [before: unknown, after: unknown]>;

/** Columns whose values owners and admins read anyway, and that hold no secret. What is not named here is never kept. */
const KEPT = [
  ...['name', 'label', 'role', 'status', 'tier', 'team_id', 'is_enabled', 'expires_at', 'default_model'],
  ...['rpm_limit', 'rpd_limit', 'tpm_limit', 'spend_cap_usd', 'allowed_models', 'blocked_models'],
  ...['api_version', 'default_api_version', 'fixed_provider', 'routing_policy_template_id', 'scopes'],
  ...['amount_usd', 'period', 'time_zone', 'rolling_days', 'is_hard', 'thresholds_pct'],
  ...['raise_by_usd', 'raise_until'],
] as const;

/** Characters of one value: a long list of models is named as changed, without what it holds. */
const VALUE_CHARS_MAX = 500;

/** Returns what differs between two states of one row, as the audit log keeps it; null where nothing does. */
export function changedValues(before: object, after: object): ChangedValues | null {
  const entries = KEPT.flatMap((name) => {
    const [from, to] = [plainOf(before, name), plainOf(after, name)];
    const [fromText, toText] = [JSON.stringify(from), JSON.stringify(to)];
    const isKept = fromText !== toText && Math.max(fromText.length, toText.length) <= VALUE_CHARS_MAX;
    return isKept ? [[name, [from, to]] as const] : [];
  });
  return entries.length === 0 ? null : (Object.fromEntries(entries) as unknown as ChangedValues);
}

/** Returns the value of a column in JSON; null where the row has none. */
function plainOf(row: object, name: string): unknown {
  const value = (row as Record<string, unknown>)[name] ?? null;
  if (value instanceof Date) return value.toISOString();
  return isDecimal(value) ? money(value.toFixed()) : value;
}

function isDecimal(value: unknown): value is { toFixed: () => string } {
  return typeof value === 'object' && value !== null && 'toFixed' in value;
}
