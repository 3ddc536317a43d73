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
 * what it said before keeps what lay below it, so that reads show that this has moved. Rows of other models stay untouched.
 */
export async function noteFileEdits(tx: Tx, layers: Layers): Promise<void> {
  const known = await notedFileEdits(tx);
  const changed = new Set(known.keys());
  const rows = layers.allFileEdits().flatMap(([model_id, edits]) => {
    const old = known.get(model_id) ?? new Map<string, ModelEdit>();
    const kept = edits.map((edit) => sameBefore(edit, old) ?? edit);
    if (kept.length === old.size && kept.every((edit) => edit === old.get(editKey(edit)))) {
      changed.delete(model_id);
      return [];
    }
    changed.add(model_id);
    return kept.map((edit) => rowOf(model_id, edit));
  });
  if (changed.size === 0) return;
  await tx.fileEdit.deleteMany({ where: { model_id: { in: [...changed] } } });
  await tx.fileEdit.createMany({ data: rows });
}

/** Returns the noted edit that says the same of the same field. */
function sameBefore(edit: ModelEdit, noted: ReadonlyMap<string, ModelEdit>): ModelEdit | undefined {
  const old = noted.get(editKey(edit));
  return old !== undefined && isSame(edit.field, old.value, edit.value) ? old : undefined;
}

function rowOf(model_id: string, { field, provider, upstream_model, value, below }: ModelEdit) {
  const content = JSON.parse(JSON.stringify({ value, below })) as object;
  return { model_id, field, provider, upstream_model, content };
}
