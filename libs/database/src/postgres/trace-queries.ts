import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type pg from 'pg';

type Query = (...given: unknown[]) => unknown;
type Settled = (error: Error | null | undefined, ...results: unknown[]) => void;

/**
 * A span for each statement of a pool, below whoever asked for it: the statement's first word, never its text or values.
 * Without a collector of traces a statement costs one call of the API's no-op twin more.
 */
export function traceQueries(pool: pg.Pool, schema: string): void {
  const tracer = trace.getTracer('gateway.postgresql');
  const connect = pool.connect.bind(pool) as (settled?: Settled) => unknown;
  // The pool runs waiting callers from whoever gives a connection back.
  Object.assign(pool, {
    connect: (settled?: Settled) =>
      settled === undefined ? connect() : connect(context.bind(context.active(), settled)),
  });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as Query;
    const traced: Query = (...given) => {
      const text = textOf(given[0]);
      if (text === null) return query(...given);
      const operation = /^\s*(\w+)/.exec(text)?.[1].toUpperCase() ?? 'QUERY';
      const span = tracer.startSpan(`${operation} ${schema}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': 'postgresql',
          'db.namespace': schema,
          'db.operation.name': operation,
        },
      });
      if (!span.isRecording()) return query(...given);
      const ended = (error: unknown): void => {
        if (error != null) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          const code = (error as { code?: unknown }).code;
          span.setAttribute('error.type', typeof code === 'string' ? code : 'error');
        }
        span.end();
      };
      const last = given.at(-1);
      if (typeof last === 'function') {
        const settled: Settled = (error, ...results) => {
          ended(error);
          (last as Settled)(error, ...results);
        };
        return query(...given.slice(0, -1), settled);
      }
      const answer = query(...given);
      if (answer instanceof Promise) answer.then(() => ended(null), ended);
      else ended(null);
      return answer;
    };
    Object.assign(client, { query: traced });
  });
}

/** null for what is no statement: a cursor or stream that runs by itself. */
function textOf(first: unknown): string | null {
  if (typeof first === 'string') return first;
  if (typeof first !== 'object' || first === null || 'submit' in first) return null;
  return 'text' in first && typeof first.text === 'string' ? first.text : null;
}
