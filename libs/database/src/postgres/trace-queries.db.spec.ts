import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import type pg from 'pg';
import { postgresPool } from './postgres-pool.js';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testPostgres();
  provider.register();
  const { url } = database;
  pool = postgresPool({ url, schema: 'traced', maxConnections: 1, statementTimeoutMs: 5_000 });
});
afterAll(async () => {
  await pool?.end();
  await provider.shutdown();
  trace.disable();
  context.disable();
  await database?.drop();
});

it('writes a span for each statement below who asked for it, also one that waited, without its text', async () => {
  const tracer = trace.getTracer('spec');
  const asked = (name: string, sql: string): Promise<unknown> =>
    tracer.startActiveSpan(name, (span) =>
      pool
        .query(sql, [])
        .catch((failure: unknown) => failure)
        .finally(() => span.end()),
    );
  // One connection: the second waits for the first.
  await Promise.all([asked('one', "SELECT 'planted text'"), asked('two', 'SELECT nothing_there')]);
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query({ text: 'COMMIT' });
  client.release();
  const spans = exporter.getFinishedSpans();
  const idOf = (name: string): string | undefined =>
    spans.find((span) => span.name === name)?.spanContext().spanId;
  const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  expect(statements.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId])).toEqual([
    ['SELECT traced', idOf('one')],
    ['SELECT traced', idOf('two')],
    ['BEGIN traced', undefined],
    ['COMMIT traced', undefined],
  ]);
  expect(statements.map(({ attributes }) => attributes['error.type'])).toEqual([
    undefined,
    '42703',
    undefined,
    undefined,
  ]);
  const written = JSON.stringify(
    statements.map(({ name, attributes, events }) => [name, attributes, events]),
  );
  expect(written).not.toMatch(/planted|nothing_there/);
});
