import { eventually } from '@gateway/testing';
import { pool } from './rounds.fixture.js';

it('forgets answers of creates a day after they were given, and none before', async () => {
  const kept = async (): Promise<string[]> =>
    (await pool.query<{ key: string }>('SELECT key FROM idempotency')).rows.map(({ key }) => key);
  await eventually(async () => !(await kept()).includes('old'));
  expect(await kept()).toEqual(['new']);
});
