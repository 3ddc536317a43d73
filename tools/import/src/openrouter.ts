import { emptyPlan, type Draft, type PlannedBudget } from './plan.js';
import { isTree, NotReadable, textOf } from './litellm/config-file.js';
import { decimalOf } from './litellm/deployment.js';

const ORGANIZATION = 'openrouter';
const PERIODS: Readonly<Record<string, PlannedBudget['period']>> = {
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
};

/** Reads a saved answer of OpenRouter's list of keys. Throws NotReadable. */
export function readOpenRouter(text: string, name: string, now: Date): Draft {
  const plan = emptyPlan('openrouter');
  const notes: Draft['notes'] = [];
  const keys = keysOf(text, name);
  const limits = { rpm_limit: null, tpm_limit: null, allowed_models: null };
  if (keys.length > 0)
    plan.organizations.push({ old_id: ORGANIZATION, name: 'OpenRouter', ...limits, spend_cap_usd: null });
  for (const [at, key] of keys.entries()) {
    const hash = textOf(key, 'hash');
    const masked = textOf(key, 'label') ?? '';
    const label = textOf(key, 'name') ?? masked;
    if (hash === null)
      throw new NotReadable(`${name}: key ${at} has no hash: save the list of keys as it is answered`);
    const place = `key ${label} (${masked})`;
    const expires = textOf(key, 'expires_at');
    if (expires !== null && new Date(expires) <= now) {
      notes.push({ place, words: 'it has expired and is not made again' });
      continue;
    }
    const amount = decimalOf(textOf(key, 'limit'));
    const reset = textOf(key, 'limit_reset');
    const { [reset ?? '']: period } = PERIODS;
    if (reset !== null && period === undefined)
      notes.push({ place, words: `limit_reset ${reset} is not known` });
    const amount_usd = amount?.toDecimalPlaces(12).toFixed() ?? null;
    const isBudget = amount_usd !== null && period !== undefined && amount?.isZero() === false;
    plan.keys.push({
      ...{ old_id: hash, organization: ORGANIZATION, team: null, label: label.slice(0, 200), masked },
      ...{ ...limits, spend_cap_usd: isBudget ? null : amount_usd },
      ...{ expires_at: expires, request_tags: {}, routing: null },
      is_suspended: key.disabled === true,
    });
    if (isBudget)
      plan.budgets.push({
        ...{ old_id: `key ${hash}`, organization: ORGANIZATION, scope: 'key', of: hash },
        ...{ name: label.slice(0, 100), amount_usd, period },
        ...{ is_hard: true, thresholds_pct: [] },
      });
    if (key.include_byok_in_limit === true)
      notes.push({ place, words: 'requests with keys of your own do not count in a budget here' });
  }
  const gateway = { providers: [], models: [], prices: [], aliases: [], budgets: [] };
  return { gateway, plan, notes };
}

function keysOf(text: string, name: string) {
  const revive = (_name: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? context.source : value;
  let saved: unknown;
  try {
    saved = JSON.parse(text, revive as (name: string, value: unknown) => unknown);
  } catch {
    throw new NotReadable(`${name} is no JSON`);
  }
  const { data } = isTree(saved) ? saved : {};
  if (!Array.isArray(data) || !data.every(isTree))
    throw new NotReadable(`${name} has no list of keys in data`);
  return data;
}
