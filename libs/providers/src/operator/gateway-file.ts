import { LazySchema } from '@gateway/dialects';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { configFaults } from './config-faults.js';
import type { Path } from './entry-fault.js';
import { GATEWAY_CONFIG_SCHEMA } from './gateway-config.schema.js';
import { NO_GATEWAY_CONFIG, type GatewayConfig } from './gateway-config.js';
import { schemaFault } from './schema-fault.js';

/** Lists of the file, whose entries are judged each for itself. */
const LISTS = ['providers', 'models', 'prices', 'aliases', 'budgets'] as const;
const schema = new LazySchema(GATEWAY_CONFIG_SCHEMA, { strict: false, allErrors: true, verbose: true });

/**
 * A gateway.yaml as far as it can be read: its faults, and the entries that are well-formed. Whoever knows more (prices,
 * limits) can look at those as well, and one report names everything.
 */
export class GatewayFile {
  /** The entries without a fault of form. */
  readonly config: GatewayConfig;
  /** A sentence each, with the file, the line and the place. */
  readonly faults: readonly string[];
  private readonly document: Document.Parsed;
  private readonly lines = new LineCounter();
  private readonly paths = new Map<object, Path>();

  constructor(
    text: string,
    private readonly name = 'gateway.yaml',
  ) {
    this.document = parseDocument(text, {
      uniqueKeys: true,
      prettyErrors: false,
      lineCounter: this.lines,
    });
    const { errors } = this.document;
    if (errors.length > 0) {
      this.config = NO_GATEWAY_CONFIG;
      this.faults = errors.map(({ message, pos }) => `${this.placeOf(pos[0])}: ${message}.`);
      return;
    }
    const value: unknown = this.document.toJS({ maxAliasCount: 100 }) ?? {};
    const { validate } = schema;
    const found = validate(value) ? [] : (validate.errors ?? []).map(schemaFault);
    this.config = this.soundPart(value, new Set(found.map(({ path }) => path.slice(0, 2).join('.'))));
    const slugs = new Set(entriesOf(value, 'providers').map((entry) => String(Reflect.get(entry, 'slug'))));
    this.faults = [
      ...new Set(found.map(({ path, words, at }) => this.sentence(path, words, at))),
      ...[...configFaults(this.config, slugs)].map(({ entry, within, words }) =>
        this.fault(entry, within, words),
      ),
    ];
  }

  /** Says what else is wrong within an entry of `config`, in the words of `faults`. */
  fault(entry: object, within: Path, words: string): string {
    return this.sentence([...(this.paths.get(entry) ?? []), ...within], words);
  }

  private sentence(path: Path, words: string, at = path): string {
    const place = path
      .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`))
      .join('');
    return `${this.placeOf(this.offsetOf(at))}: ${place === '' ? '' : `${place}: `}${words}`;
  }

  private placeOf(offset: number): string {
    return `${this.name}, line ${this.lines.linePos(offset).line}`;
  }

  /** Returns the start of the member or entry that a path leads to, or of the last one on the way. */
  private offsetOf(path: Path): number {
    let node = this.document.contents as Node | null;
    let offset = node?.range?.[0] ?? 0;
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(this.document) ?? null;
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && key.value === step)
        : undefined;
      const next = (isSeq(node) ? node.items[Number(step)] : pair?.value) as Node | null | undefined;
      const named = ((pair?.key as Node | undefined) ?? next)?.range?.[0];
      if (named === undefined) return offset;
      offset = named;
      node = next ?? null;
    }
    return offset;
  }

  /** Returns the entries without a fault, each with its place in the file. */
  private soundPart(value: unknown, faulty: ReadonlySet<string>): GatewayConfig {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO_GATEWAY_CONFIG;
    const lists = LISTS.map((list) => {
      const entries = faulty.has(list) ? [] : entriesOf(value, list);
      for (const [at, entry] of entries.entries()) this.paths.set(entry, [list, at]);
      return [list, entries.filter((_, at) => !faulty.has(`${list}.${at}`))];
    });
    const given = value as Partial<GatewayConfig>;
    const isFaulty = (name: string): boolean =>
      [...faulty].some((path) => path === name || path.startsWith(`${name}.`));
    const { organizations: noDefaults, catalogue: noSettings } = NO_GATEWAY_CONFIG;
    const organizations = (isFaulty('organizations') ? undefined : given.organizations) ?? noDefaults;
    const catalogue = (isFaulty('catalogue') ? undefined : given.catalogue) ?? noSettings;
    const { billing } = isFaulty('billing') ? {} : given;
    this.paths.set(organizations, ['organizations']);
    const entries = Object.fromEntries(lists) as Partial<GatewayConfig>;
    return { ...NO_GATEWAY_CONFIG, ...entries, ...(billing && { billing }), organizations, catalogue };
  }
}

function entriesOf(value: unknown, list: (typeof LISTS)[number]): object[] {
  const entries: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, list) : undefined;
  return Array.isArray(entries)
    ? entries.map((entry: unknown) => (typeof entry === 'object' && entry !== null ? entry : {}))
    : [];
}
