import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';
import { SystemClock } from '@gateway/platform/time';

const USAGE = `usage: npm run catalogue -- keygen --out KEY.pem              a new key; prints keyid=public key
       npm run catalogue -- build [--version N] --out FILE    the data here as a payload
       npm run catalogue -- sign FILE --key KEY.pem --keyid ID --out FILE
       npm run catalogue -- verify FILE --keys LIST
       npm run catalogue -- diff FILE [FILE]                  against the data here, or against the first file
       npm run catalogue -- import own|models.dev|litellm FILE --out FILE
`;
const text = { type: 'string' } as const;

const { values, positionals } = readFlags(
  USAGE,
  { out: text, key: text, keyid: text, keys: text, version: text },
  { takesWords: true },
);
// After the flags: what it loads takes most of a second.
const { run } = await import('./commands.js');
const { lines, code } = run(positionals, values, new Date(new SystemClock().now()));
process.stdout.write(lines.map((line) => `${line}\n`).join(''));
if (code === 2) process.stderr.write(USAGE);
process.exitCode = code;
