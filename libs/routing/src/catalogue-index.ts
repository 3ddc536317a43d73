import {
  ApiError,
  type CatalogueModel,
  type CatalogueReader,
  type CatalogueSnapshot,
} from '@gateway/contracts';
import { scrub } from '@gateway/redaction';

/** Callers' text that a refusal repeats: a name, and no more. */
const NAMEABLE = /^[\w.:/@-]{1,100}$/;

/** A snapshot made ready for lookups by id and by name without a brand. Immutable, one per snapshot. */
export class CatalogueIndex {
  private readonly byId = new Map<string, CatalogueModel>();
  private readonly byName = new Map<string, string[]>();

  constructor(readonly snapshot: CatalogueSnapshot) {
    for (const model of snapshot.models) {
      const { id } = model.record;
      this.byId.set(id, model);
      const name = id.slice(id.indexOf('/') + 1);
      this.byName.set(name, [...(this.byName.get(name) ?? []), id]);
    }
  }

  /** The same, null where there is none. */
  find(idOrName: string): CatalogueModel | null {
    const exact = this.byId.get(idOrName);
    if (exact) return exact;
    const candidates = this.byName.get(idOrName) ?? [];
    return candidates.length === 1 ? (this.byId.get(candidates[0]) ?? null) : null;
  }

  /** The model of an id, or of a name that only one brand has. Throws ApiError model_not_found. */
  model(idOrName: string): CatalogueModel {
    const found = this.find(idOrName);
    if (found) return found;
    const candidates = this.byName.get(idOrName) ?? [];
    throw candidates.length > 1
      ? modelNotFound(`Several brands have a model of that name: ${candidates.join(', ')}.`)
      : unknownModel(idOrName);
  }
}

/** The index of the newest snapshot, made once per snapshot. */
export function newestIndex(catalogue: Pick<CatalogueReader, 'snapshot'>): () => CatalogueIndex {
  let index: CatalogueIndex | null = null;
  return () => {
    const snapshot = catalogue.snapshot();
    if (index?.snapshot !== snapshot) index = new CatalogueIndex(snapshot);
    return index;
  };
}

/** Alike for a model that is not there and one that the caller may not use. A key in the name's place is not repeated. */
export function unknownModel(name: string): ApiError {
  const isName = NAMEABLE.test(name) && scrub(name) === name;
  return modelNotFound(
    isName ? `The model ${name} is unknown, disabled or not permitted for the key.` : undefined,
  );
}

export function modelNotFound(message?: string): ApiError {
  return new ApiError('model_not_found', {
    providerCode: 'model_not_found',
    param: 'model',
    ...(message === undefined ? {} : { message }),
  });
}
