import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run import -- litellm config.yaml [--database-url URL] [--out DIR] [--apply]
       npm run import -- openrouter keys.json [--out DIR] [--apply]
Prints what becomes of it here and what has no counterpart. --database-url reads organizations, teams and keys of
LiteLLM's PostgreSQL. --out writes gateway.yaml, plan.json and no-counterpart.md into a new folder.
--apply (GATEWAY_URL, and GATEWAY_TOKEN of a super admin) makes what plan.json of that folder has, each once, and writes
the new keys into keys.csv there.
`;

const text = { type: 'string' } as const;

const { values, positionals } = readFlags(
  USAGE,
  { out: text, 'database-url': text, apply: { type: 'boolean' } },
  { takesWords: true },
);
const [source, path, ...others] = positionals;
if ((source !== 'litellm' && source !== 'openrouter') || path === undefined || others.length > 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  // After the flags: what it loads takes most of a second.
  const { runImport } = await import('./run-import.js');
  const { lines, fault, code } = await runImport(source, path, values, {
    env: process.env,
    now: new Date(),
  });
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (fault !== null) process.stderr.write(`${fault}\n`);
  process.exitCode = code;
}
