import 'reflect-metadata';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '@gateway/platform';
import { repository } from '@gateway/testing/plain';
import { getMetadataStorage } from 'class-validator';

type ConfigClass = new () => object;
type Storage = { validationMetadatas: Map<unknown, { propertyName: string }[]> };

/** Names of values that nobody else may have; addresses of servers that may carry a password, too. */
const SECRET =
  /_(?:SECRET|TOKEN|PASSWORD|PEPPER|KEK|KEY|HEADERS)(?:_PREVIOUS)?$|(?:DATABASE|REDIS|SMTP)_URL$|SECRET_ACCESS_KEY|^HTTPS_PROXY$/;

/** Every setting of every class that a process reads, by the metadata that its validators leave. */
async function settings(): Promise<[ConfigClass, string][]> {
  const files = globSync(['{apps,libs}/**/src/**/*.config.ts', 'apps/edge/src/edge-limits.ts'], {
    cwd: repository,
  });
  // Specs that ran before in this process left classes of their own.
  const ours = new Set<string>();
  for (const file of files) {
    await import(join(repository, file));
    const text = readFileSync(join(repository, file), 'utf8');
    for (const [, name] of text.matchAll(/\bclass (\w+)/g)) ours.add(name);
  }
  const { validationMetadatas } = getMetadataStorage() as unknown as Storage;
  const read = [...validationMetadatas].filter(([type]) => ours.has((type as ConfigClass).name));
  return read.flatMap(([type, fields]) =>
    [...new Set(fields.map(({ propertyName }) => propertyName))]
      .filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name))
      .map((name): [ConfigClass, string] => [type as ConfigClass, name]),
  );
}

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (failure) {
    if (failure instanceof ConfigError) return failure.faults;
    throw failure;
  }
}

/** True if a value may come from a file, whose absence is a fault. */
const readsFile = (type: ConfigClass, name: string): boolean =>
  faultsOf(() => loadConfig(type, { [`${name}_FILE`]: '/none' })).some((fault) =>
    fault.startsWith(`${name}_FILE: /none cannot be read`),
  );

describe('a secret of a configuration', () => {
  it('may come as <NAME>_FILE, whatever service reads it', async () => {
    const secrets = (await settings()).filter(([, name]) => SECRET.test(name));
    expect(secrets.length).toBeGreaterThan(25);
    const without = secrets.filter(([type, name]) => !readsFile(type, name));
    expect(without.map(([type, name]) => `${type.name}.${name}`)).toEqual([]);
  });
});
