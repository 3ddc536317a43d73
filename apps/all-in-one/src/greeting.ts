import type { ServerOffer } from '@gateway/catalogue';
import { FIRST_KEY_LIMITS } from '@gateway/keys';
import type { AllInOne } from './all-in-one.js';

/** The one line of `npm start -- --json`; null where the file of the first run was removed. */
export function jsonLine({ url, login }: AllInOne): string {
  const line = {
    base_url: url,
    dashboard_url: `${url}/dashboard/`,
    api_key: login?.api_key ?? null,
    admin: login?.admin ?? { email: null, password: null },
  };
  return `${JSON.stringify(line)}\n`;
}

/** Returns the text for a person who starts the gateway in a terminal. */
export function greeting({ url, login, isFirstRun, logFile, providers, ...own }: AllInOne): string {
  const lines = [
    '',
    `Model Gateway       ${url}`,
    `Dashboard           ${url}/dashboard/`,
    `Reference           ${url}/docs`,
    `Providers           ${providers.join(', ')}`,
    ...own.servers.map((server) => serverLine(server, own.askedEveryMs)),
    ...loginLines({ login, isFirstRun }),
    `Log                 ${logFile}`,
    '',
    'A first request, answered by the built-in simulated provider:',
    '',
    curl(url, login?.api_key ?? '$GATEWAY_KEY'),
    '',
    'Ctrl-C stops everything in order.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the line of a server of the operator's: its models with a name that can be called, or why there are none. */
function serverLine({ name, baseUrl, models, fault }: ServerOffer, everyMs: number): string {
  const label = `${name.padEnd(19)} `;
  const every = everyMs === 60_000 ? 'every minute' : `every ${everyMs / 1_000} s`;
  if (fault !== null) return `${label}${fault} at ${baseUrl} (tried again ${every})`;
  if (models.length === 0) return `${label}no models yet at ${baseUrl} (asked again ${every})`;
  return `${label}${models.length} ${models.length === 1 ? 'model' : 'models'}, e.g. ${models[0]}`;
}

function loginLines({ login, isFirstRun }: Pick<AllInOne, 'login' | 'isFirstRun'>): string[] {
  if (login === null) return ['API key             made by an earlier run, whose first-run.json is gone'];
  const { email, password } = login.admin;
  return [
    isFirstRun
      ? `First login         ${email}   one-time password: ${password}`
      : `First login         ${email}   password of the first run: ${password}`,
    `API key             ${login.api_key}`,
    ...(isFirstRun ? [`Limits of the key   ${limitsLine()}`] : []),
  ];
}

/** Returns the limits of a new key: a load test would meet them, and take 429 for the gateway's own bound. */
function limitsLine(): string {
  const [minute, day, tokens] = [FIRST_KEY_LIMITS.rpm, FIRST_KEY_LIMITS.rpd, FIRST_KEY_LIMITS.tpm].map(
    (limit) => limit.toLocaleString('en-US'),
  );
  return `${minute} requests a minute, ${day} a day, ${tokens} tokens a minute; raise them before you measure`;
}

function curl(url: string, key: string): string {
  const body = JSON.stringify({ model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `curl ${url}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
