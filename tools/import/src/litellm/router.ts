import type { PlannedRouting } from '../plan.js';
import { isTree, listOf, textOf, treeOf, type ConfigFile, type Path } from './config-file.js';
import { decimalOf } from './deployment.js';
import type { Groups } from './groups.js';

const FALLBACKS_MAX = 5;
const RETRIES_MAX = 5;
const DAY_MS = 86_400_000;
const SORTS: Readonly<Record<string, 'latency' | 'price'>> = {
  'latency-based-routing': 'latency',
  'cost-based-routing': 'price',
};

/** Retries, time and fallbacks of a file, as routing policies of keys. */
export class Router {
  /** The policies that `routingOf` has been asked for. */
  readonly routing: PlannedRouting[] = [];
  private readonly base: PlannedRouting['routing_policy'];
  private readonly fallbacks = new Map<string, string[]>();
  private readonly defaults: string[];

  constructor(
    file: ConfigFile,
    private readonly groups: Groups,
    private readonly tell: (at: Path, words: string) => void,
  ) {
    const [router, general] = [treeOf(file.root, 'router_settings'), treeOf(file.root, 'litellm_settings')];
    const numberOf = (name: string): number | null =>
      (decimalOf(textOf(router, name)) ?? decimalOf(textOf(general, name)))?.toNumber() ?? null;
    const [retries, seconds] = [numberOf('num_retries'), numberOf('timeout') ?? numberOf('request_timeout')];
    const { [textOf(router, 'routing_strategy') ?? '']: sort } = SORTS;
    this.base = {
      ...(retries === null ? {} : { max_retries: Math.min(Math.max(0, Math.trunc(retries)), RETRIES_MAX) }),
      ...(seconds === null || seconds <= 0
        ? {}
        : { total_timeout_ms: Math.min(Math.ceil(seconds * 1_000), DAY_MS) }),
      ...(sort === undefined ? {} : { sort }),
    };
    for (const [section, tree] of [
      ['router_settings', router],
      ['litellm_settings', general],
    ] as const)
      for (const [at, entry] of listOf(tree, 'fallbacks').entries())
        for (const [group, names] of Object.entries(isTree(entry) ? entry : {}))
          this.fallbacks.set(group, this.ids(names, [section, 'fallbacks', at]));
    this.defaults = this.ids(listOf(general, 'default_fallbacks'), ['litellm_settings', 'default_fallbacks']);
  }

  /** Returns the policy of who may call these groups (null = all), made where it is new; null for none. */
  routingOf(groups: readonly string[] | null): string | null {
    const own = [...this.fallbacks].filter(([group]) => groups === null || groups.includes(group));
    const models = [...new Set([...own.flatMap(([, names]) => names), ...this.defaults])];
    const fallback_models = models.slice(0, FALLBACKS_MAX);
    const routing_policy = { ...this.base, ...(fallback_models.length === 0 ? {} : { fallback_models }) };
    if (Object.keys(routing_policy).length === 0) return null;
    const text = JSON.stringify(routing_policy);
    const known = this.routing.find((one) => JSON.stringify(one.routing_policy) === text);
    if (known !== undefined) return known.old_id;
    if (own.length > 1 || models.length > FALLBACKS_MAX)
      this.tell(
        ['router_settings', 'fallbacks'],
        `fallbacks follow the key here, whatever its model: ${fallback_models.join(', ')}`,
      );
    const count = this.routing.length + 1;
    const planned = { old_id: `routing-${count}`, name: `LiteLLM ${count}`, routing_policy };
    this.routing.push(planned);
    return planned.old_id;
  }

  private ids(names: unknown, at: Path): string[] {
    return (Array.isArray(names) ? names : []).flatMap((name) => {
      const ids = typeof name === 'string' ? this.groups.idsOf(name) : null;
      if (ids === null) this.tell(at, `${JSON.stringify(name)} is no model of the file: left out`);
      return ids?.filter((id) => !id.endsWith('/*')).slice(0, 1) ?? [];
    });
  }
}
