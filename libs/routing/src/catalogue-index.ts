import {
  ApiError,
  NO_ALIASES,
  type Alias,
  type AliasBook,
  type CatalogueModel,
  type CatalogueReader,
  type CatalogueSnapshot,
} from '@gateway/contracts';
import { scrub } from '@gateway/redaction';

/** Callers' text that a rejection repeats: a name, and no more. */
const NAMEABLE = /^[\w.:/@-]{1,100}$/;

/** Number of names that a rejection offers. */
const NEAR_MAX = 3;
/** Part of the pairs of letters that two names share, from which on one is taken for the other misspelt. */
const NEAR_MIN = 0.45;

/** True for models that the caller may know of: a rejection names no other. */
export type Visible = (model: CatalogueModel) => boolean;

/** A snapshot made ready for lookups by id, by a server's own name and by name without a brand. Immutable, one per snapshot. */
export class CatalogueIndex {
  private readonly byId = new Map<string, CatalogueModel>();
  /** Ids by what is asked for instead: a name without its brand, and what a server calls its model, with it and without. */
  private readonly byName = new Map<string, ReadonlySet<string>>();
  private readonly aliases = new Map<string, Alias>();
  private pairsById: ReadonlyMap<string, ReadonlySet<string>> | null = null;

  constructor(
    readonly snapshot: CatalogueSnapshot,
    readonly book: AliasBook = NO_ALIASES,
  ) {
    for (const model of snapshot.models) {
      const { id } = model.record;
      this.byId.set(id, model);
      for (const name of namesOf(model)) this.byName.set(name, new Set(this.byName.get(name)).add(id));
    }
    for (const alias of book.aliases) this.aliases.set(aliasKey(alias.org_id, alias.name), alias);
  }

  /** Returns the model of an id; null where no model has it. */
  byExactId(id: string): CatalogueModel | null {
    return this.byId.get(id) ?? null;
  }

  /**
   * Returns the alias that a name is for a caller of the organization: its own before the platform's. Null where it is none,
   * and for an id of the catalogue, which no alias hides.
   */
  alias(name: string, orgId: string | null): Alias | null {
    if (this.aliases.size === 0 || this.byId.has(name)) return null;
    const own = orgId === null ? undefined : this.aliases.get(aliasKey(orgId, name));
    return own ?? this.aliases.get(aliasKey(null, name)) ?? null;
  }

  /** Returns the aliases of these organizations and of the platform, each name once: an organization's before the platform's. */
  aliasesFor(orgIds: readonly string[]): Alias[] {
    const found = new Map<string, Alias>();
    for (const alias of this.book.aliases) {
      const { org_id: orgId, name } = alias;
      if (this.byId.has(name) || (orgId !== null && !orgIds.includes(orgId))) continue;
      if (orgId !== null || !found.has(name)) found.set(name, alias);
    }
    return [...found.values()];
  }

  /** Returns the same as `model`, null where there is none. */
  find(idOrName: string): CatalogueModel | null {
    const exact = this.byId.get(idOrName);
    if (exact) return exact;
    const [id, ...others] = this.byName.get(idOrName) ?? [];
    return id === undefined || others.length > 0 ? null : (this.byId.get(id) ?? null);
  }

  /**
   * Returns the model of an id, of a name that only one brand has, or of the name that its server has for it.
   * Throws ApiError model_not_found, which names nothing that is not visible.
   */
  model(idOrName: string, isVisible: Visible): CatalogueModel {
    const found = this.find(idOrName);
    if (found) return found;
    const candidates = this.models(this.byName.get(idOrName) ?? []).filter(isVisible);
    throw candidates.length > 1
      ? modelNotFound(
          `Several models have that name: ${candidates.map(({ record }) => record.id).join(', ')}.`,
        )
      : this.unknown(idOrName, isVisible);
  }

  /** Returns the rejection of a name, alike for a model that is not there and one that the caller may not use. */
  unknown(name: string, isVisible: Visible): ApiError {
    return unknownModel(name, this.near(name, isVisible));
  }

  private models(ids: Iterable<string>): CatalogueModel[] {
    return [...ids].flatMap((id) => this.byId.get(id) ?? []);
  }

  /** Returns the ids most like a name, the nearest first. */
  private near(name: string, isVisible: Visible): string[] {
    if (name.length > NAME_MAX) return [];
    this.pairsById ??= new Map([...this.byId.keys()].map((id) => [id, pairsOf(id)]));
    const wanted = pairsOf(name);
    const bare = [...this.pairsById].map(([id, pairs]) => ({ id, likeness: likeness(wanted, pairs) }));
    const ranked = bare
      .filter((one) => one.likeness >= NEAR_MIN)
      .sort((one, other) => other.likeness - one.likeness || (one.id < other.id ? -1 : 1));
    return this.models(ranked.map(({ id }) => id))
      .filter(isVisible)
      .slice(0, NEAR_MAX)
      .map(({ record }) => record.id);
  }
}

/** No id of an organization and no name has a space. */
function aliasKey(orgId: string | null, name: string): string {
  return `${orgId ?? ''} ${name}`;
}

const NAME_MAX = 100;

function namesOf({ record: { id }, routes }: CatalogueModel): string[] {
  const brand = id.slice(0, id.indexOf('/'));
  // A brand that serves itself is a server of the operator's or a maker of models: its own names mean its models.
  const own = routes.filter(({ provider }) => provider === brand).map((route) => route.upstreamModel);
  return [id.slice(id.indexOf('/') + 1), ...own.flatMap((name) => [name, `${brand}/${name}`])];
}

/** Returns the letters and digits of a name in lower case, in pairs: marks between them differ from server to server. */
function pairsOf(name: string): ReadonlySet<string> {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '');
  return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)));
}

/** Returns Dice's coefficient: 1 for the same pairs, 0 for none in common. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of one) if (other.has(pair)) common += 1;
  return one.size + other.size === 0 ? 0 : (2 * common) / (one.size + other.size);
}

/** The index of the newest snapshot and aliases, made once for both. */
export function newestIndex(catalogue: Pick<CatalogueReader, 'snapshot' | 'aliases'>): () => CatalogueIndex {
  let index: CatalogueIndex | null = null;
  return () => {
    const [snapshot, book] = [catalogue.snapshot(), catalogue.aliases()];
    if (index?.snapshot !== snapshot || index.book !== book) index = new CatalogueIndex(snapshot, book);
    return index;
  };
}

/** Alike for a model that is not there and one that the caller may not use. A key in the name's place is not repeated. */
export function unknownModel(name: string, near: readonly string[] = []): ApiError {
  if (!NAMEABLE.test(name) || scrub(name) !== name) return modelNotFound();
  const offer = near.length === 0 ? '' : ` The nearest: ${near.join(', ')}.`;
  return modelNotFound(`The model ${name} is unknown, disabled or not permitted for the key.${offer}`);
}

export function modelNotFound(message?: string): ApiError {
  return new ApiError('model_not_found', {
    providerCode: 'model_not_found',
    param: 'model',
    ...(message === undefined ? {} : { message }),
  });
}
