import type { Layers } from './layers.js';
import type { Tx } from '../postgres/catalogue-database.js';
import { editKey, type ModelEdit } from '../seed/model-edits.js';
import { isSame } from '../seed/model-fields.js';

/** Edits of gateway.yaml with the content that lay below when they were first met, by model and `editKey`. */
export type NotedEdits = ReadonlyMap<string, ReadonlyMap<string, ModelEdit>>;

export async function notedFileEdits(tx: Tx): Promise<NotedEdits> {
  const found = new Map<string, Map<string, ModelEdit>>();
  for (const { model_id, content, field, ...row } of await tx.fileEdit.findMany()) {
    const edit: ModelEdit = {
      ...row,
      field: field as ModelEdit['field'],
      ...(content as Pick<ModelEdit, 'value' | 'below'>),
    };
    const ofModel = found.get(model_id) ?? new Map<string, ModelEdit>();
    found.set(model_id, ofModel.set(editKey(edit), edit));
  }
  return found;
}

/**
 * Notes what lies below each edit of gateway.yaml that is new or says something new, in the caller's transaction. One that says
 * what it said before keeps what lay below it, so that reads show that this has moved.
 */
export async function noteFileEdits(tx: Tx, layers: Layers): Promise<void> {
  const known = await notedFileEdits(tx);
  const rows = layers.modelsOfFile().flatMap((model_id) =>
    layers.fileEdits(model_id).map((edit) => {
      const old = known.get(model_id)?.get(editKey(edit));
      const kept = old !== undefined && isSame(edit.field, old.value, edit.value) ? old : edit;
      const { field, provider, upstream_model, value, below } = kept;
      const content = JSON.parse(JSON.stringify({ value, below })) as object;
      return { model_id, field, provider, upstream_model, content };
    }),
  );
  await tx.fileEdit.deleteMany();
  await tx.fileEdit.createMany({ data: rows });
}
