import { postgresPool } from './postgres-pool.js';

it('reports a lost idle connection while the pool is in use, and not the end of one that is being closed', async () => {
  const reported: string[] = [];
  const pool = postgresPool({
    url: 'postgresql://nobody@127.0.0.1:1/none',
    schema: 'keys',
    maxConnections: 1,
    statementTimeoutMs: 1_000,
    onIdleError: ({ message }) => reported.push(message),
  });
  const lost = new Error('terminating connection due to administrator command');
  pool.emit('error', lost);
  expect(reported).toEqual([lost.message]);
  await pool.end();
  pool.emit('error', lost);
  expect(reported).toEqual([lost.message]);
});
