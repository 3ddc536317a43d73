import type pg from 'pg';
import type { Notice, RepetitionState } from '../notices/notice.js';

/**
 * Returns the notices that go beyond the last state of their repetition, and stores the new states. Locks rows in the
 * order of their names.
 */
export async function climb<Wanted extends { notice: Notice }>(
  client: pg.PoolClient,
  wanted: readonly Wanted[],
): Promise<Wanted[]> {
  const states = await lockRepetitions(client, wanted);
  const moved = new Map<string, RepetitionState>();
  const passed = wanted.filter(({ notice: { repetition, orgId } }) => {
    if (repetition === null) return true;
    const place = placeOf(orgId, repetition.name);
    const step = repetition.step(moved.get(place) ?? states.get(place) ?? null);
    if (step !== null) moved.set(place, step.state);
    return step?.isNotified === true;
  });
  await writeRepetitions(client, moved);
  return passed;
}

async function lockRepetitions(
  client: pg.PoolClient,
  wanted: readonly { notice: Notice }[],
): Promise<Map<string, RepetitionState>> {
  const places = new Set(
    wanted.flatMap(({ notice: { repetition, orgId } }) =>
      repetition === null ? [] : [placeOf(orgId, repetition.name)],
    ),
  );
  if (places.size === 0) return new Map();
  const split = [...places].sort().map(partsOf);
  const values = [split.map(([org]) => org), split.map(([, name]) => name)];
  // A place of its own first, so that two processes that meet the same new repetition wait for each other.
  await client.query({
    name: 'place-rungs',
    text: `INSERT INTO rung (org_id, name, at) SELECT org_id, name, '-infinity'
      FROM unnest($1::text[], $2::text[]) AS r(org_id, name) ON CONFLICT DO NOTHING`,
    values,
  });
  const { rows } = await client.query<{
    org_id: string;
    name: string;
    at: Date | null;
    detail: string | null;
  }>({
    name: 'lock-rungs',
    text: `SELECT r.org_id, r.name, nullif(r.at, '-infinity') AS at, r.detail
      FROM rung r JOIN unnest($1::text[], $2::text[]) AS p(org_id, name) USING (org_id, name)
      ORDER BY r.org_id, r.name FOR UPDATE OF r`,
    values,
  });
  return new Map(
    rows.flatMap(({ org_id, name, at, detail }) =>
      at === null ? [] : [[placeOf(org_id, name), { atMs: at.getTime(), detail }]],
    ),
  );
}

async function writeRepetitions(
  client: pg.PoolClient,
  moved: ReadonlyMap<string, RepetitionState>,
): Promise<void> {
  if (moved.size === 0) return;
  const rows = [...moved].map(([place, state]) => ({ split: partsOf(place), state }));
  await client.query({
    name: 'write-rungs',
    text: `UPDATE rung r SET at = m.at, detail = m.detail
      FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[]) AS m(org_id, name, at, detail)
      WHERE r.org_id = m.org_id AND r.name = m.name`,
    values: [
      rows.map(({ split: [org] }) => org),
      rows.map(({ split: [, name] }) => name),
      rows.map(({ state }) => new Date(state.atMs).toISOString()),
      rows.map(({ state }) => state.detail),
    ],
  });
}

function placeOf(orgId: string, name: string): string {
  return `${orgId}\n${name}`;
}

function partsOf(place: string): [string, string] {
  const at = place.indexOf('\n');
  return [place.slice(0, at), place.slice(at + 1)];
}
