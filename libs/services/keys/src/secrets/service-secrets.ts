import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Random } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import type { KeysSecretsConfig } from '../keys.config.js';

interface Pepper {
  version: number;
  key: Buffer;
}

export interface ServiceSecrets {
  /** The current one first; an older one only verifies. */
  peppers: readonly [Pepper, ...Pepper[]];
  /** The first seals; an older one only opens. */
  keks: readonly [Buffer, ...Buffer[]];
}

/** Loads the secrets from the environment, else from the file. Throws ConfigError where neither has both. */
export function loadSecrets(config: Readonly<KeysSecretsConfig>, random: Random): ServiceSecrets {
  const file = config.KEYS_PEPPER && config.KEYS_KEK ? null : readFile(config, random);
  const pepper = config.KEYS_PEPPER ?? file?.pepper;
  const kek = config.KEYS_KEK ?? file?.kek;
  if (pepper === undefined || kek === undefined) {
    throw new ConfigError(['KEYS_PEPPER and KEYS_KEK, or KEYS_SECRETS_FILE that holds them, are required']);
  }
  const version = config.KEYS_PEPPER_VERSION;
  const current = { version, key: keyOf('pepper', pepper) };
  const previous = config.KEYS_PEPPER_PREVIOUS;
  const peppers: [Pepper, ...Pepper[]] = [current];
  if (previous !== undefined) peppers.push({ version: version - 1, key: keyOf('previous pepper', previous) });
  const keks: [Buffer, ...Buffer[]] = [keyOf('kek', kek)];
  if (config.KEYS_KEK_PREVIOUS !== undefined) keks.push(keyOf('previous kek', config.KEYS_KEK_PREVIOUS));
  return { peppers, keks };
}

function readFile(
  config: Readonly<KeysSecretsConfig>,
  random: Random,
): { pepper?: string; kek?: string } | null {
  const path = config.KEYS_SECRETS_FILE;
  if (path === undefined) return null;
  if (!existsSync(path)) {
    if (!config.KEYS_SECRETS_CREATE) throw new ConfigError([`KEYS_SECRETS_FILE: ${path} does not exist`]);
    const made = { pepper: base64(random.bytes(32)), kek: base64(random.bytes(32)) };
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // `wx`: two processes that start at once must not each believe in their own secrets.
    writeFileSync(path, JSON.stringify(made), { mode: 0o600, flag: 'wx' });
    return made;
  }
  const parsed = parsedFile(path);
  if (typeof parsed !== 'object' || parsed === null) throw new ConfigError([`${path} holds no JSON object`]);
  return { pepper: textMember(parsed, 'pepper'), kek: textMember(parsed, 'kek') };
}

function parsedFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (failure) {
    // What the parser says would show a part of the file.
    const reason = failure instanceof SyntaxError ? 'holds no JSON' : String((failure as Error).message);
    throw new ConfigError([`KEYS_SECRETS_FILE: ${path}: ${reason}`]);
  }
}

function textMember(value: object, name: string): string | undefined {
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'string' ? member : undefined;
}

function keyOf(name: string, text: string): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32) throw new ConfigError([`the ${name} must be base64 of 32 bytes`]);
  return key;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
