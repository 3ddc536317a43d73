// Prints what `npm test` leaves out on this machine as one line of JSON, {sentences, specs}; nothing where it runs everything.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ComposeProject } from './compose.js';
import { leftOut, unmet } from './left-out.js';
import { thisMachine } from './programs.js';
import { repositoryRoot } from './repository.js';

// Docker is asked where something else is missing only: its answer may take two seconds.
const missing = unmet(process.env, thisMachine);
if (missing.size > 0 && (await new ComposeProject('gw-ask').isAvailable()))
  for (const need of ['redis', 'kafka'] as const) missing.delete(need);
if (missing.size > 0) {
  const texts = new Map<string, string | undefined>();
  const read = (path: string): string | undefined => {
    if (!texts.has(path)) texts.set(path, textOf(path));
    return texts.get(path);
  };
  const all = globSync('{apps,libs,tools,lab,e2e}/**/*.spec.{ts,tsx}', { cwd: repositoryRoot });
  const specs = all.filter((path) => !/\.drill\.spec\.tsx?$/.test(path)).sort();
  const left = leftOut(specs, new Set(missing.keys()), read);
  process.stdout.write(`${JSON.stringify({ sentences: [...missing.values()], specs: left })}\n`);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(join(repositoryRoot, path), 'utf8');
  } catch {
    return undefined;
  }
}
