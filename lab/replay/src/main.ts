import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';

const USAGE =
  'usage: npm run replay -- DIR            recorded exchanges below DIR\n       npm run replay -- --golden DIR   provider bodies with the answers that DIR/README.md expects\n';

const { values, positionals } = readFlags(USAGE, { golden: { type: 'string' } }, { takesWords: true });
const folder = values.golden ?? positionals[0];
if (!folder || !existsSync(folder)) {
  process.stderr.write(folder ? `${folder} is not there\n` : USAGE);
  process.exitCode = 2;
} else {
  // After the flags: what it loads takes most of a second.
  const { replay } = await import('./replay.js');
  process.exitCode = await replay(folder, values.golden !== undefined);
}
