import type { CatalogueLayer } from '@gateway/contracts';
import { editsBetween, type ModelEdit } from '../seed/model-edits.js';
import { targetOf } from '../seed/model-fields.js';
import type { Seed, SeedModel } from '../seed/seed-record.js';

/** The layers below what operators edit: the data, what servers have been found to offer, the operator's file. */
export class Layers {
  private readonly data: ReadonlyMap<string, SeedModel>;
  private readonly found: ReadonlyMap<string, SeedModel>;
  private readonly merged: ReadonlyMap<string, SeedModel>;

  constructor(
    /** All of them as one. */
    readonly seed: Seed,
    {
      data,
      dataLayer,
      discovered,
    }: { data: Seed; dataLayer: 'release' | 'feed'; discovered: readonly SeedModel[] },
  ) {
    this.base = data;
    this.data = byId(data.models);
    this.dataLayer = dataLayer;
    this.found = byId(discovered);
    this.merged = byId(seed.models);
  }

  private readonly dataLayer: 'release' | 'feed';

  /** The lowest of them. */
  readonly base: Seed;

  /** Returns the model as these layers have it; null where none does. */
  of(id: string): SeedModel | null {
    return this.merged.get(id) ?? null;
  }

  /** Returns what the file says of the model beyond the layers below it. */
  fileEdits(id: string): ModelEdit[] {
    const [under, merged] = [this.under(id), this.of(id)];
    return merged === null || merged === under?.model ? [] : editsBetween(under?.model ?? null, merged);
  }

  /** Returns all that the file says beyond the layers below it, by id of the model. */
  allFileEdits(): [id: string, edits: ModelEdit[]][] {
    return [...this.merged.keys()].map((id): [string, ModelEdit[]] => [id, this.fileEdits(id)]);
  }

  /** Returns the layer of these that a field comes from; null where none has the model or the route. */
  layerOf(
    id: string,
    { field, provider, upstream_model }: Omit<ModelEdit, 'value' | 'below'>,
  ): CatalogueLayer | null {
    const model = this.of(id);
    if (model === null) return null;
    const target = targetOf({ provider, upstream_model });
    if (provider !== '' && !model.routes.some((route) => targetOf(route) === target)) return null;
    const ofFile = this.fileEdits(id).some((edit) => edit.field === field && targetOf(edit) === target);
    return ofFile ? 'file' : this.underFile(id);
  }

  /** Returns the layer below the file that has the model. */
  underFile(id: string): CatalogueLayer {
    return this.under(id)?.layer ?? 'file';
  }

  /** Returns the model below the file, with its layer; null where none has it. */
  under(id: string): { model: SeedModel; layer: CatalogueLayer } | null {
    const data = this.data.get(id);
    const found = this.found.get(id);
    if (found !== undefined) return { model: found, layer: 'discovered' };
    return data === undefined ? null : { model: data, layer: this.dataLayer };
  }
}

function byId(models: readonly SeedModel[]): ReadonlyMap<string, SeedModel> {
  return new Map(models.map((model) => [model.id, model]));
}
