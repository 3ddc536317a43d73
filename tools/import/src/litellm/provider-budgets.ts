import type { OwnBudget, OwnProvider } from '@gateway/providers';
import type { Decimal } from 'decimal.js';
import { amountOf, periodOf, PERIODS_IN_WORDS } from './budget-terms.js';
import { textOf, treeOf, type ConfigFile, type Path, type Tree } from './config-file.js';
import { decimalOf } from './deployment.js';
import { slugOf } from './provider-names.js';
import type { ReleaseData } from './release.js';

const SECTION = 'router_settings';
const MEMBER = 'provider_budget_config';
/** Members of an entry that are read, each by its two names. */
const AMOUNT: readonly string[] = ['budget_limit', 'max_budget'];
const DURATION: readonly string[] = ['time_period', 'budget_duration'];
/** Least amount that no budget can have. */
const AMOUNT_END = 1_000_000_000_000;

/** Returns the budgets of providers, each for the provider of ours that the name stands for. */
export function readProviderBudgets(
  { root }: ConfigFile,
  providers: readonly OwnProvider[],
  release: ReleaseData,
  tell: (at: Path, words: string) => void,
): OwnBudget[] {
  const entries = treeOf(treeOf(root, SECTION), MEMBER);
  const budgets: OwnBudget[] = [];
  for (const theirs of Object.keys(entries)) {
    const [entry, at, slug] = [treeOf(entries, theirs), [SECTION, MEMBER, theirs], slugOf(theirs)];
    for (const name of Object.keys(entry))
      if (!AMOUNT.includes(name) && !DURATION.includes(name))
        tell([...at, name], 'has no counterpart: limits of requests and tokens are those of credentials');
    const duration = first(entry, DURATION);
    const [amount_usd, period] = [amountAbove0(decimalOf(first(entry, AMOUNT))), periodOf(duration)];
    if (release.provider(slug) === null && !providers.some((one) => one.slug === slug))
      tell(at, `${theirs} is no provider here`);
    else if (budgets.some(({ scope_id }) => scope_id === slug))
      tell(at, `${theirs} is ${slug} here, which has a budget from another entry`);
    else if (amount_usd === null) tell(at, 'a budget needs an amount of USD above 0 and below a trillion');
    else if (period === null) tell(at, `${amount_usd} USD in ${duration ?? 'no time'}: ${PERIODS_IN_WORDS}`);
    else {
      budgets.push({ scope: 'provider', scope_id: slug, amount_usd, ...period });
      tellOwn(slug, providers, (words) => tell(at, words));
    }
  }
  return budgets;
}

/** Tells the hosts that counted with the provider there: each is a provider of its own here. */
function tellOwn(slug: string, providers: readonly OwnProvider[], tell: (words: string) => void): void {
  const own = providers
    .map((provider) => provider.slug)
    .filter((name) => name.startsWith(`${slug}-`) && /^\d+$/.test(name.slice(slug.length + 1)));
  if (own.length > 0) tell(`${own.join(', ')} counted with it: give them a budget of their own`);
}

function amountAbove0(amount: Decimal | null): string | null {
  if (amount?.lt(AMOUNT_END) !== true) return null;
  const text = amountOf(amount);
  return amount.isNegative() || /^[0.]*$/.test(text) ? null : text;
}

function first(entry: Tree, names: readonly string[]): string | null {
  return names.map((name) => textOf(entry, name)).find((text) => text !== null) ?? null;
}
