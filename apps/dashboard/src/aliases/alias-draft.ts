import { figureOf } from '../api/figure-of.js';
import type { Alias, AliasBody } from './aliases.queries.js';

export const TARGETS_MAX = 8;

/** One model of a draft, its weight as text. */
export interface TargetDraft {
  model: string;
  weight: string;
}

export interface AliasDraft {
  name: string;
  description: string;
  targets: readonly TargetDraft[];
}

export function draftOf(alias: Alias | undefined): AliasDraft {
  return {
    name: alias?.name ?? '',
    description: alias?.description ?? '',
    targets: alias?.targets.map(({ model, weight }) => ({ model, weight: String(weight) })) ?? [
      { model: '', weight: '100' },
    ],
  };
}

/** Returns what is sent: rows without a model are left out. */
export function bodyOfDraft({ name, description, targets }: AliasDraft): AliasBody {
  return {
    name: name.trim(),
    description: description.trim() === '' ? null : description.trim(),
    targets: targets
      .filter(({ model }) => model !== '')
      .map(({ model, weight }) => ({ model, weight: figureOf(weight) })),
  };
}

const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** Returns the share of the requests that a weight has among all of them; null where no weight counts. */
export function shareOf(weight: number, weights: readonly number[]): string | null {
  const whole = weights.reduce((sum, one) => sum + one, 0);
  return Number.isFinite(whole) && whole > 0 ? percent.format(weight / whole) : null;
}
