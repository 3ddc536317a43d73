import type { Tx } from '../postgres/catalogue-database.js';
import { editKey, type ModelEdit } from './model-edits.js';
import { isSame } from './model-fields.js';

/** An edit of an operator, with when it was made and by whom. */
export interface StoredEdit extends ModelEdit {
  edited_at: Date;
  edited_by: string | null;
}

interface Editor {
  now: Date;
  /** null where nobody is known. */
  by: string | null;
}

/** Edits by the model, in a fixed order; of all models where no ids are given. */
export async function storedEdits(
  tx: Tx,
  ids?: readonly string[],
): Promise<ReadonlyMap<string, StoredEdit[]>> {
  const rows = await tx.edit.findMany({
    where: ids === undefined ? {} : { model_id: { in: [...ids] } },
    orderBy: [{ model_id: 'asc' }, { provider: 'asc' }, { upstream_model: 'asc' }, { field: 'asc' }],
  });
  const found = new Map<string, StoredEdit[]>();
  for (const { model_id, content, field, ...row } of rows) {
    const edit = {
      ...row,
      field: field as ModelEdit['field'],
      ...(content as Pick<ModelEdit, 'value' | 'below'>),
    };
    found.set(model_id, [...(found.get(model_id) ?? []), edit]);
  }
  return found;
}

/**
 * Makes these the edits of the models, by id. One that says what it said before keeps its date, its author and what lay
 * below when it was made: reads still show that the content below has moved.
 */
export async function putEdits(
  tx: Tx,
  edits: ReadonlyMap<string, readonly ModelEdit[]>,
  { now, by }: Editor,
): Promise<void> {
  const ids = [...edits.keys()];
  const known = await storedEdits(tx, ids);
  await tx.edit.deleteMany({ where: { model_id: { in: ids } } });
  const rows = [...edits].flatMap(([id, ofModel]) => {
    const before = new Map(known.get(id)?.map((edit) => [editKey(edit), edit]));
    return ofModel.map((edit) => {
      const old = before.get(editKey(edit));
      const kept = old !== undefined && isSame(edit.field, old.value, edit.value) ? old : null;
      const { field, provider, upstream_model, value, below } = kept ?? edit;
      const content = JSON.parse(JSON.stringify({ value, below })) as object;
      const made = { edited_at: kept?.edited_at ?? now, edited_by: kept === null ? by : kept.edited_by };
      return { model_id: id, field, provider, upstream_model, content, ...made };
    });
  });
  await tx.edit.createMany({ data: rows });
}
