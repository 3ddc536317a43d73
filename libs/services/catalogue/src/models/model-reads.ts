import { Injectable } from '@nestjs/common';
import { downConvert } from '@gateway/api-version';
import {
  CatalogueReader,
  type CatalogueModel,
  type ListModelsQuery,
  type Principal,
} from '@gateway/contracts';
import { accessOf, CatalogueIndex, requireAccess } from '@gateway/routing';

/** Reads of the newest snapshot as a caller may see it. In memory: no I/O. */
@Injectable()
export class ModelReads {
  private newest: CatalogueIndex | null = null;

  constructor(private readonly catalogue: CatalogueReader) {}

  /** Enabled models that the caller may call, by id. A session sees all. */
  list(caller: Principal, query: ListModelsQuery): CatalogueModel[] {
    return this.index().snapshot.models.filter((model) => isCallable(caller, model) && matches(query, model));
  }

  /**
   * The model of an id, or of a name that only one brand has.
   * Throws ApiError `model_not_found` (404), and `model_excluded` (403) where a block list of the key names it.
   */
  one(caller: Principal, idOrName: string): CatalogueModel {
    const model = this.index().model(idOrName);
    if (caller.kind === 'key') requireAccess(caller.access, model.record.id);
    return model;
  }

  private index(): CatalogueIndex {
    const snapshot = this.catalogue.snapshot();
    if (this.newest?.snapshot !== snapshot) this.newest = new CatalogueIndex(snapshot);
    return this.newest;
  }
}

/** The record in the shape that an API version promised. */
export function wireRecord(
  { record }: CatalogueModel,
  apiVersion: string,
): Readonly<Record<string, unknown>> {
  return downConvert('model', { ...record }, apiVersion);
}

function isCallable(caller: Principal, { record, routes }: CatalogueModel): boolean {
  if (caller.kind !== 'key') return true;
  const { access, fixedProvider } = caller;
  const isServed = fixedProvider === null || routes.some(({ provider }) => provider === fixedProvider);
  return isServed && accessOf(access, record.id) === 'allowed';
}

function matches({ free, type, provider }: ListModelsQuery, { record, routes }: CatalogueModel): boolean {
  if (free !== undefined && record.is_free !== free) return false;
  if (type !== undefined && record.model_type !== type) return false;
  return provider === undefined || routes.some((route) => route.provider === provider);
}
