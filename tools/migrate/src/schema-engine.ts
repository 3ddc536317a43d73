import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine, SchemaFilter } from '@prisma/schema-engine-wasm';

const MODULE = '@prisma/schema-engine-wasm/schema_engine_bg';

/** The part of the global that is used; the compiler's libraries have it for browsers only. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** Every table and enum of the schema is ours. */
export const NO_FILTER: SchemaFilter = { externalTables: [], externalEnums: [] };

let loading: Promise<typeof SchemaEngine> | undefined;
const panics = new EventEmitter<{ panic: [message: string] }>();

/**
 * Runs `work` with Prisma's schema engine, in this process: nothing is downloaded and no program is started.
 * @throws Error of the engine; where it panicked, with the panic's own message.
 */
export async function withSchemaEngine<T>(
  adapter: SqlMigrationAwareDriverAdapterFactory,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const Engine = await (loading ??= loadEngine());
  const over = new AbortController();
  // A call in which the engine panics never settles.
  const panicked = once(panics, 'panic', { signal: over.signal }).then(([message]) => {
    loading = undefined; // A panicked instance stays broken: the next caller gets a new one.
    throw new Error(`Prisma's schema engine panicked: ${String(message)}`);
  });
  try {
    const bound = bindMigrationAwareSqlAdapterFactory(adapter);
    const answer = Engine.new({ datamodels: undefined }, () => undefined, bound).then(async (engine) => {
      const result = await work(engine);
      engine.free();
      return result;
    });
    return await Promise.race([answer, panicked]);
  } finally {
    panicked.catch(() => undefined); // Aborted by the next line, or thrown above already.
    over.abort();
  }
}

/** The package's own entry imports the .wasm file as a module, which not every runner of ours can do. */
async function loadEngine(): Promise<typeof SchemaEngine> {
  // Without it a panic is a bare "unreachable".
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => void panics.emit('panic', message) },
  });
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const folder = dirname(createRequire(import.meta.url).resolve(MODULE));
  const bytes = readFileSync(join(folder, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...bindings } });
  bindings.__wbg_set_wasm(instance.exports);
  const start: unknown = instance.exports['__wbindgen_start'];
  if (typeof start !== 'function') throw new Error('The schema engine has no entry.');
  Reflect.apply(start, undefined, []);
  return bindings.SchemaEngine;
}
