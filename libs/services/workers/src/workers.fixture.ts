import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import {
  Inference,
  ObjectStore,
  PrincipalReader,
  type Clock,
  type ResponseStore,
  type StoredResponse,
} from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { connectEventLog, InProcessEventLog } from '@gateway/event-log';
import { ObjectStoreConfig, ObjectStoreModule } from '@gateway/object-store';
import {
  bootstrap,
  mintSecret,
  PlatformModule,
  SystemClock,
  SystemRandom,
  type PressureLimits,
  type RunningApp,
} from '@gateway/platform';
import {
  InferenceDouble,
  keyPrincipal,
  LimitStoreDouble,
  NO_PRESSURE,
  PrincipalReaderDouble,
} from '@gateway/testing';
import { SCHEMA, SCHEMA_DIR } from './postgres/workers-database.js';
import { StoredResponses } from './responses/responses.store.js';
import { WorkersConfig } from './workers.config.js';
import { WorkersModule } from './workers.module.js';

const random = new SystemRandom();

export interface WorkersApp extends RunningApp {
  log: InProcessEventLog;
  responses: ResponseStore;
  objects: ObjectStore;
  inference: InferenceDouble;
  /** A credential of a key. */
  keyOf(keyId: string, secret?: string): string;
  call(
    method: string,
    path: string,
    key: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

interface Answer {
  status: number;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Migrations of this service, for `testPostgres`. */
export const MIGRATED = {
  schemaDir: SCHEMA_DIR,
  migrate: async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  },
};

/** Starts the service over a migrated database. */
export async function startWorkersApp(
  url: string,
  more: {
    inference?: InferenceDouble;
    config?: Partial<WorkersConfig>;
    folder?: string;
    clock?: Clock;
    pressure?: PressureLimits;
  } = {},
): Promise<WorkersApp> {
  const folder = more.folder ?? mkdtempSync(join(tmpdir(), 'objects-'));
  const inference = more.inference ?? new InferenceDouble();
  const clock = more.clock ?? new SystemClock();
  const log = new InProcessEventLog({ clock, random });
  const principals = new PrincipalReaderDouble();
  const platform = PlatformModule.with({
    service: 'workers',
    logLevel: 'silent',
    fleetToken: 'fleet-token-of-the-spec',
    eventLog: () => log,
    limitStore: () => new LimitStoreDouble({ clock, random }),
    clock,
  });
  const config = Object.assign(new WorkersConfig(), { WORKERS_DATABASE_URL: url, ...more.config });
  class Root {}
  Module({
    imports: [
      platform,
      ObjectStoreModule.with(Object.assign(new ObjectStoreConfig(), { OBJECT_STORE_DIR: folder })),
      WorkersModule.with(config),
      {
        module: class Neighbours {},
        global: true,
        providers: [
          { provide: PrincipalReader, useValue: principals },
          { provide: Inference, useValue: inference },
        ],
        exports: [PrincipalReader, Inference],
      },
    ],
  })(Root);
  const app = await bootstrap({
    name: 'workers',
    module: Root,
    config: {
      host: '127.0.0.1',
      port: 0,
      drainGraceMs: 1_000,
      pressure: more.pressure ?? NO_PRESSURE,
    },
    connect: connectEventLog,
  });
  return {
    ...app,
    log,
    responses: app.app.get(StoredResponses),
    objects: app.app.get(ObjectStore),
    inference,
    close: async () => {
      await app.close();
      if (more.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
    keyOf: (keyId, secret = mintSecret('rsk_', random)) => {
      principals.add(secret, keyPrincipal({ keyId, accountId: `acct_${keyId}` }));
      return secret;
    },
    call: (...asked) => call(app.url, ...asked),
  };
}

async function call(
  url: string,
  ...[method, path, key, body, headers]: Parameters<WorkersApp['call']>
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  return { status: answer.status, text, body: isJson ? (JSON.parse(text) as unknown) : null };
}

/** Memory budget for reads of any size. */
export const anyMemory = (): void => undefined;

export function stored(id: string, more: Partial<StoredResponse> = {}): StoredResponse {
  const text = `answer of ${id}`;
  return {
    id,
    key_id: 'key_a',
    account_id: 'acct_key_a',
    end_user_hash: null,
    credential: null,
    previous_response_id: null,
    conversation_id: null,
    created_at: 1_700_000_000,
    input: [
      { type: 'message', id: `msg_${id}`, role: 'user', content: [{ type: 'input_text', text: `to ${id}` }] },
    ],
    response: {
      id,
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', id: `out_${id}`, role: 'assistant', content: [{ type: 'output_text', text }] },
      ],
      usage: { input_tokens: 1, odd: 'kept as it is' },
    },
    ...more,
  };
}
