import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, SystemRandom } from '@gateway/platform';
import { KeysConfig } from '../keys.config.js';
import { loadSecrets } from './service-secrets.js';

const random = new SystemRandom();
let folder: string;

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'keys-secrets-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const config = (more: Partial<KeysConfig>): KeysConfig => Object.assign(new KeysConfig(), more);
const text = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

describe('loadSecrets', () => {
  it('makes the file once, for its owner alone, and reads the same secrets again', () => {
    const path = join(folder, 'data', 'secrets.json');
    const asked = config({ KEYS_SECRETS_FILE: path, KEYS_SECRETS_CREATE: true });
    const first = loadSecrets(asked, random);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(loadSecrets(asked, random)).toEqual(first);
    expect(readFileSync(path, 'utf8')).toContain(first.keks[0].toString('base64'));
  });

  it('makes none where it was not told to, and refuses to go on without', () => {
    expect(() => loadSecrets(config({ KEYS_SECRETS_FILE: join(folder, 'none.json') }), random)).toThrow(
      ConfigError,
    );
    expect(() => loadSecrets(config({}), random)).toThrow(ConfigError);
    expect(() => loadSecrets(config({ KEYS_PEPPER: text(1) }), random)).toThrow(ConfigError);
  });

  it('takes the environment, with the pepper and the key before as the second', () => {
    const asked = config({
      KEYS_PEPPER: text(1),
      KEYS_PEPPER_VERSION: 2,
      KEYS_PEPPER_PREVIOUS: text(2),
      KEYS_KEK: text(3),
      KEYS_KEK_PREVIOUS: text(4),
    });
    const { peppers, keks } = loadSecrets(asked, random);
    expect(peppers.map(({ version, key }) => [version, key[0]])).toEqual([
      [2, 1],
      [1, 2],
    ]);
    expect(keks.map((kek) => kek[0])).toEqual([3, 4]);
  });
});
