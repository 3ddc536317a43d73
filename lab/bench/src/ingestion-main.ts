// `npm run bench:ingestion -- [--accounts 20] [--events 40000] [--rounds 1] [--per-second 1500] [--cpu-prof FOLDER] [--statements] [--narrow]`
import 'reflect-metadata';
import { Client } from 'pg';
import { readFlags } from '@gateway/platform/flags';
import type { IngestionFigures } from './ingestion.js';

const USAGE = `usage: npm run bench:ingestion -- [--accounts 20,1000] [--events 40000] [--rounds 1] [--per-second 1500] [--cpu-prof FOLDER]
                                  [--statements] [--narrow]`;

const { values } = readFlags(USAGE, {
  accounts: { type: 'string', default: '20,1000' },
  events: { type: 'string', default: '40000' },
  'per-second': { type: 'string' },
  rounds: { type: 'string', default: '1' },
  'cpu-prof': { type: 'string' },
  statements: { type: 'boolean', default: false },
  narrow: { type: 'boolean', default: false },
});

// After the flags: what it loads takes most of a second.
const { measureIngestion } = await import('./ingestion.js');

/** The dearest statements, where PostgreSQL has pg_stat_statements loaded. */
async function statements(databaseUrl: string, when: 'before' | 'after'): Promise<void> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    if (when === 'before') await database.query('SELECT pg_stat_statements_reset()');
    const { rows } = await database.query(
      `SELECT round(total_exec_time::numeric) AS ms, calls, rows, left(regexp_replace(query, '\\s+', ' ', 'g'), 60) AS query
       FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 14`,
    );
    if (when === 'after') console.table(rows);
  } finally {
    await database.end();
  }
}

const { 'cpu-prof': folder, 'per-second': perSecond } = values;
for (const accounts of values.accounts.split(',').map(Number)) {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const figures: IngestionFigures = await measureIngestion({
      accounts,
      events: Number(values.events),
      ...(perSecond === undefined ? {} : { perSecond: Number(perSecond) }),
      ...(folder === undefined ? {} : { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${folder}`] }),
      ...(values.statements ? { look: statements } : {}),
      isNarrow: values.narrow,
    });
    const rounded = Object.entries(figures).map(([name, value]) => [name, Math.round(Number(value))]);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(rounded))}\n`);
  }
}
