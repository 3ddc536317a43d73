import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IsString, MinLength } from 'class-validator';
import { ConfigError, loadConfig } from './load-config.js';
import { OrFile, valueOrFile } from './or-file.js';
import { serviceEnvironment } from './fleet.config.js';

class Secrets {
  @OrFile() @IsString() @MinLength(8) TOKEN!: string;
  @OrFile() @IsString() PASSWORD: string = 'none';
  @IsString() NAME: string = 'n';
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'or-file-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o400 });
  return path;
}

describe('a secret as <NAME>_FILE', () => {
  it.each(['from-a-file', 'from-a-file\n', 'from-a-file\r\n'])('is read without its last newline', (text) => {
    const config = loadConfig(Secrets, { TOKEN_FILE: file('token', text), PASSWORD_FILE: '' });
    expect(config).toEqual({ TOKEN: 'from-a-file', PASSWORD: 'none', NAME: 'n' });
  });

  it('is refused where both are set, the file is absent, empty, a folder, too large or too short a secret', () => {
    const faults = (env: Record<string, string>): unknown => {
      try {
        return loadConfig(Secrets, env);
      } catch (failure) {
        return failure instanceof ConfigError ? failure.faults : failure;
      }
    };
    const [short, empty] = [file('short', 'secret!\n'), file('empty', '\n')];
    const absent = join(folder, 'none');
    expect(faults({ TOKEN: 'long-enough', TOKEN_FILE: short })).toEqual([
      'TOKEN and TOKEN_FILE are both set: keep one of them',
    ]);
    expect(faults({ TOKEN_FILE: absent, PASSWORD_FILE: empty })).toEqual([
      `TOKEN_FILE: ${absent} cannot be read (ENOENT)`,
      `PASSWORD_FILE: ${empty} is empty`,
    ]);
    expect(faults({ TOKEN_FILE: folder })).toEqual([`TOKEN_FILE: ${folder} cannot be read (EISDIR)`]);
    expect(String(faults({ TOKEN_FILE: file('large', 'x'.repeat(300_000)) }))).toContain('is larger than');
    expect(String(faults({ TOKEN_FILE: short }))).toMatch(/^TOKEN: .*longer/);
    expect(String(faults({ TOKEN_FILE: short }))).not.toContain('secret!');
  });

  it('reads no file for a variable that is not a secret', () => {
    expect(loadConfig(Secrets, { TOKEN: 'long-enough', NAME_FILE: '/none' }).NAME).toBe('n');
  });

  it('holds for DATABASE_URL too, in whose place a service’s own is taken, by value or by file', () => {
    const env = { DATABASE_URL_FILE: file('url', 'postgresql://all') };
    expect(valueOrFile(serviceEnvironment('keys', env), 'KEYS_DATABASE_URL')).toBe('postgresql://all');
    const own = { ...env, KEYS_DATABASE_URL: 'postgresql://own' };
    expect(valueOrFile(serviceEnvironment('keys', own), 'KEYS_DATABASE_URL')).toBe('postgresql://own');
    const ownFile = {
      DATABASE_URL: 'postgresql://all',
      KEYS_DATABASE_URL_FILE: file('own', 'postgresql://f'),
    };
    expect(valueOrFile(serviceEnvironment('keys', ownFile), 'KEYS_DATABASE_URL')).toBe('postgresql://f');
  });
});
