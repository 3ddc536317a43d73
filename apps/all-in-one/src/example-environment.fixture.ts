import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';

/** Left empty in the file, because nobody else may have them. */
const OWN_SECRETS = /^(?:FLEET_TOKEN|KEYS_PEPPER|[A-Z]+_KEK)$/;

export const example = readFileSync(join(repository, '.env.example'), 'utf8');

/** .env.example as it stands, with secrets of its own: a valid configuration of every service. */
export function exampleEnvironment(): Record<string, string> {
  const set = [...example.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => {
    const isOwn = value === '' && OWN_SECRETS.test(name);
    return [name, isOwn ? Buffer.alloc(32, name).toString('base64') : value] as const;
  });
  return Object.fromEntries(set);
}
