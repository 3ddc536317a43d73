import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  feedChanges,
  FeedRefused,
  openEnvelope,
  payloadOf,
  publicKeyText,
  readFeedDocument,
  readFeedKeys,
  readSeed,
  sealEnvelope,
  type FeedDocument,
} from '@gateway/catalogue';
import { candidates } from './public-tables.js';

/** Options of a command, as they were given. */
export interface Options {
  out?: string;
  key?: string;
  keyid?: string;
  keys?: string;
  version?: string;
}

interface Output {
  lines: string[];
  /** 0; 1 for a document that is refused or differs; 2 for wrong usage. */
  code: 0 | 1 | 2;
}

const MISUSED: Output = { lines: [], code: 2 };

/** Runs one command; the lines are for people. */
export function run(words: readonly string[], options: Options, now: Date): Output {
  const [command, ...files] = words;
  try {
    if (command === 'keygen' && options.out !== undefined) return keygen(options.out, now);
    if (command === 'build' && options.out !== undefined) return build(options, options.out, now);
    if (command === 'sign' && files.length === 1) return signed(files[0], options, now);
    if (command === 'verify' && files.length === 1 && options.keys !== undefined)
      return verified(files[0], options.keys, now);
    if (command === 'diff' && (files.length === 1 || files.length === 2)) return diff(files, now);
    if (command === 'import' && files.length === 2 && options.out !== undefined)
      return imported(files[0], files[1], options.out, now);
    return MISUSED;
  } catch (failure) {
    if (failure instanceof FeedRefused || failure instanceof SyntaxError || failure instanceof TypeError)
      return { lines: [failure.message], code: 1 };
    throw failure;
  }
}

function keygen(out: string, now: Date): Output {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  writeFileSync(out, pem, { mode: 0o600, flag: 'wx' });
  return { lines: [`catalogue-${now.toISOString().slice(0, 10)}=${publicKeyText(privateKey)}`], code: 0 };
}

function build({ version }: Options, out: string, now: Date): Output {
  const number = version === undefined ? minuteOf(now) : Number(version);
  if (!Number.isSafeInteger(number) || number < 1) return MISUSED;
  const seed = readSeed({ simulated: false });
  const payload = JSON.stringify(payloadOf(seed, { version: number, createdAt: now.toISOString() }));
  readFeedDocument(Buffer.from(payload), now.getTime());
  writeFileSync(out, payload);
  return { lines: [`version ${number}: ${seed.models.length} models in ${out}`], code: 0 };
}

/** Versions only grow: the minute of the day, YYYYMMDDhhmm. */
function minuteOf(now: Date): number {
  return Number(now.toISOString().slice(0, 16).replace(/\D/g, ''));
}

function signed(file: string, { key, keyid, out }: Options, now: Date): Output {
  if (key === undefined || keyid === undefined || out === undefined) return MISUSED;
  const payload = readFileSync(file);
  const { version, models } = readFeedDocument(payload, now.getTime());
  writeFileSync(out, sealEnvelope(payload, { pem: readFileSync(key, 'utf8'), keyid }));
  return { lines: [`version ${version}: ${models.length} models, signed as ${keyid} in ${out}`], code: 0 };
}

function verified(file: string, keys: string, now: Date): Output {
  const { payload, keyid } = openEnvelope(readFileSync(file), readFeedKeys(keys));
  const { version, createdAt, models } = readFeedDocument(payload, now.getTime());
  return {
    lines: [`version ${version} of ${createdAt}: ${models.length} models, signed by ${keyid}`],
    code: 0,
  };
}

function diff(files: readonly string[], now: Date): Output {
  const documents = files.map((file) => documentOf(readFileSync(file), now));
  const [before, after] =
    documents.length === 2
      ? [documents[0].models, documents[1].models]
      : [readSeed({ simulated: false }).models, documents[0].models];
  const changes = feedChanges(before, after);
  const lines = changes.flatMap(({ model, kind, fields, prices }) => [
    `${kind} ${model}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`,
    ...prices.map(
      ({ provider, upstream_model, window, field, from, to }) =>
        `    ${provider} ${upstream_model}${window === null ? '' : ` ${window}`}: ${field} ${from ?? '-'} -> ${to ?? '-'}`,
    ),
  ]);
  return { lines: lines.length === 0 ? ['nothing differs'] : lines, code: lines.length === 0 ? 0 : 1 };
}

/** Reads a payload, or the payload of an envelope whoever has signed it: a difference proves nothing. */
function documentOf(bytes: Buffer, now: Date): FeedDocument {
  const { payload } = JSON.parse(bytes.toString('utf8')) as { payload?: unknown };
  const inside = typeof payload === 'string' ? Buffer.from(payload, 'base64') : bytes;
  return readFeedDocument(inside, now.getTime());
}

function imported(kind: string, file: string, out: string, now: Date): Output {
  if (kind === 'own') {
    const { models } = documentOf(readFileSync(file), now);
    writeFileSync(
      out,
      `${JSON.stringify(feedChanges(readSeed({ simulated: false }).models, models), null, 2)}\n`,
    );
    return { lines: [`${models.length} models in ${out}`], code: 0 };
  }
  if (kind !== 'models.dev' && kind !== 'litellm') return MISUSED;
  const rows = candidates(kind, readFileSync(file, 'utf8'), readSeed({ simulated: false }).models);
  writeFileSync(out, `${JSON.stringify(rows, null, 2)}\n`);
  const known = rows.filter(({ model }) => model !== null);
  const differing = known.filter(({ differs }) => differs.length > 0);
  const lines = [
    `${rows.length} rows, ${known.length} of routes that are ours, ${differing.length} with other rates, in ${out}`,
  ];
  return { lines, code: 0 };
}
