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
export function greeting({ url, login, isFirstRun, logFile, providers }: AllInOne): string {
  const lines = [
    '',
    `Model Gateway       ${url}`,
    `Dashboard           ${url}/dashboard/`,
    `Reference           ${url}/docs`,
    `Providers           ${providers.join(', ')}`,
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

function loginLines({ login, isFirstRun }: Pick<AllInOne, 'login' | 'isFirstRun'>): string[] {
  if (login === null) return ['API key             made by an earlier run, whose first-run.json is gone'];
  const { email, password } = login.admin;
  return [
    isFirstRun
      ? `First login         ${email}   one-time password: ${password}`
      : `First login         ${email}   password of the first run: ${password}`,
    `API key             ${login.api_key}`,
  ];
}

function curl(url: string, key: string): string {
  const body = JSON.stringify({ model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `curl ${url}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
