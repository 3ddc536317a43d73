import type { AdminEdit, AdminModelRecord, CatalogueLayer } from '@gateway/contracts';
import type { Layers } from '../own/layers.js';
import type { NotedEdits } from '../own/file-edits.js';
import { belowOf, editKey, isDrifted, type ModelEdit } from '../seed/model-edits.js';
import { targetOf, type SourcedPrice } from '../seed/model-fields.js';
import type { StoredEdit } from '../seed/stored-edits.js';

/** Edits of a model as reads show them: those of operators, then those of gateway.yaml that they leave. */
export function shownEdits(
  id: string,
  edits: readonly StoredEdit[],
  { layers, noted }: { layers: Layers; noted: NotedEdits },
): AdminEdit[] {
  const below = layers.of(id);
  const ofOperators = edits.map((edit) => {
    const under = belowOf(edit, below);
    const layer = layers.layerOf(id, edit);
    return {
      ...named(edit, 'operator'),
      below: under && layer && { layer, value: shown(edit.field, under.value) },
      is_drifted: isDrifted(edit, below),
      edited_at: edit.edited_at.toISOString(),
      edited_by: edit.edited_by,
    };
  });
  const ofFile = layers.fileEdits(id).map((edit) => ({
    ...named(edit, 'file'),
    below: edit.below && { layer: layers.underFile(id), value: shown(edit.field, edit.below.value) },
    is_drifted: hasMoved(edit, noted.get(id)?.get(editKey(edit)), layers.under(id)),
    edited_at: null,
    edited_by: null,
  }));
  return [...ofOperators, ...ofFile];
}

/** True if what lies below an edit of the file has moved. What servers offer comes and goes: it is not looked at. */
function hasMoved(
  edit: ModelEdit,
  noted: ModelEdit | undefined,
  under: ReturnType<Layers['under']>,
): boolean {
  if (noted === undefined || under?.layer === 'discovered') return false;
  return isDrifted({ ...edit, below: noted.below }, under?.model ?? null);
}

function named({ field, provider, upstream_model, value }: ModelEdit, layer: CatalogueLayer) {
  const of = provider === '' ? { provider: null, upstream_model: null } : { provider, upstream_model };
  return { field, ...of, layer, value: shown(field, value) };
}

/** A price as it is read, without the page that it is from. */
function shown(field: string, value: unknown): unknown {
  if (field !== 'price') return value;
  const { price, effective_date } = value as SourcedPrice;
  return { ...price, effective_date };
}

/** Returns the layer whose price the route has. */
export function priceLayer(
  id: string,
  route: { provider: string; upstream_model: string },
  edits: readonly AdminEdit[],
  layers: Layers,
): CatalogueLayer {
  const isEdited = edits.some(
    ({ field, layer, provider, upstream_model }) =>
      field === 'price' && layer === 'operator' && targetOf(route) === `${provider} ${upstream_model}`,
  );
  if (isEdited) return 'operator';
  const { provider, upstream_model } = route;
  return layers.layerOf(id, { field: 'price', provider, upstream_model }) ?? 'operator';
}

/** Layers that a model, its prices or one of its edited fields come from. */
export function layersOf(
  { id, routes, edits }: AdminModelRecord,
  layers: Layers,
): ReadonlySet<CatalogueLayer> {
  const own = [...routes.map(({ price_layer }) => price_layer), ...edits.map(({ layer }) => layer)];
  const model = layers.layerOf(id, { field: 'name', provider: '', upstream_model: '' });
  return new Set(model === null ? own : [...own, model]);
}
