import type { AllInOne } from './all-in-one.js';
import { greeting, jsonLine } from './greeting.js';

const running: AllInOne = {
  url: 'http://127.0.0.1:8080',
  login: { api_key: 'rsk_one', admin: { email: 'admin@gateway.local', password: 'first' } },
  isFirstRun: true,
  logFile: '/data/logs/gateway.log',
  providers: ['OpenAI', 'Simulator'],
  servers: [],
  askedEveryMs: 60_000,
  routes: [],
  close: () => Promise.resolve(),
};

describe('what npm start prints', () => {
  it('names the address, the providers, the login and the log, and a curl with the key', () => {
    const printed = greeting(running);
    expect(printed).toMatch(/^Model Gateway +http:\/\/127\.0\.0\.1:8080$/m);
    expect(printed).toMatch(/^Reference +http:\/\/127\.0\.0\.1:8080\/docs$/m);
    expect(printed).toMatch(/^Providers +OpenAI, Simulator$/m);
    expect(printed).toMatch(/^First login +admin@gateway\.local +one-time password: first$/m);
    expect(printed).toMatch(/^API key +rsk_one$/m);
    expect(printed).toMatch(
      /^Limits of the key +100 requests a minute, 10,000 a day, 1,000,000 tokens a minute;/m,
    );
    expect(printed).toMatch(/^Log +\/data\/logs\/gateway\.log$/m);
    expect(printed).toContain('-H "Authorization: Bearer rsk_one"');
  });

  it.each([
    [{ models: ['ollama/llama3.2', 'ollama/qwen3-0.6b'], fault: null }, '2 models, e.g. ollama/llama3.2'],
    [{ models: ['ollama/llama3.2'], fault: null }, '1 model, e.g. ollama/llama3.2'],
    [{ models: [], fault: null }, 'no models yet at http://127.0.0.1:11434 (asked again every minute)'],
    [
      { models: [], fault: 'not reached' },
      'not reached at http://127.0.0.1:11434 (tried again every minute)',
    ],
    [
      { models: [], fault: 'refuses the key of OLLAMA_API_KEY (401)' },
      'refuses the key of OLLAMA_API_KEY (401) at http://127.0.0.1:11434 (tried again every minute)',
    ],
  ])('C7 says what a local server offers, or why it offers nothing: %j', (offer, words) => {
    const server = { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434', ...offer };
    expect(greeting({ ...running, servers: [server] })).toContain(`\nOllama              ${words}\n`);
    expect(
      greeting({ ...running, servers: [{ ...server, fault: 'not reached' }], askedEveryMs: 5_000 }),
    ).toContain('(tried again every 5 s)');
  });

  it('does not call the password of an earlier run one for a single use', () => {
    const printed = greeting({ ...running, isFirstRun: false });
    expect(printed).toMatch(/password of the first run: first$/m);
    expect(printed).not.toContain('one-time');
    expect(printed).not.toContain('Limits of the key');
  });

  it('says where the first run’s file is gone that nobody has its secrets, and leaves the key to the shell', () => {
    const printed = greeting({ ...running, login: null, isFirstRun: false });
    expect(printed).toMatch(/^API key +made by an earlier run, whose first-run\.json is gone$/m);
    expect(printed).toContain('-H "Authorization: Bearer $GATEWAY_KEY"');
    expect(printed).not.toContain('First login');
  });

  it('is one line of JSON with --json, with null for what is gone', () => {
    expect(jsonLine(running)).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(jsonLine(running))).toEqual({
      base_url: 'http://127.0.0.1:8080',
      dashboard_url: 'http://127.0.0.1:8080/dashboard/',
      api_key: 'rsk_one',
      admin: { email: 'admin@gateway.local', password: 'first' },
    });
    expect(JSON.parse(jsonLine({ ...running, login: null }))).toMatchObject({
      api_key: null,
      admin: { email: null, password: null },
    });
  });
});
