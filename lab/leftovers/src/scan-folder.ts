import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { secretsIn, type FoundSecret } from './secret-forms.js';

/** A secret, and the file below the folder that holds it. */
interface Finding extends FoundSecret {
  file: string;
}

export interface Scanned {
  findings: Finding[];
  /** Files and bytes read, by the folders below: `postgres`, `kafka`, `logs` … */
  read: Record<string, { files: number; bytes: number }>;
}

const PIECE_BYTES = 16 * 1024 * 1024;
/** A secret that stands over the end of a piece is whole in the next; longer than the longest one in hex. */
const OVERLAP_BYTES = 20_000;
/** Lines that name secrets to the operator who starts a gateway: those of apps/keys, and of `npm start` with and without --json. */
const FIRST_RUN =
  /^(?:\{"(?:first_login|base_url)":.*\}|API key {13}rsk_\w+| {2}-H "Authorization: Bearer rsk_\w+" -H .*)$/gm;

/** Looks for the product's secrets in every file below a folder, whatever the file is. */
export function scanFolder(folder: string): Scanned {
  const scanned: Scanned = { findings: [], read: {} };
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = path.slice(folder.length + 1);
    const kind = (scanned.read[file.split('/')[0]] ??= { files: 0, bytes: 0 });
    kind.files += 1;
    kind.bytes += statSync(path).size;
    const found = new Map<string, FoundSecret>();
    for (const text of piecesOf(path)) {
      const looked = file.startsWith('logs/') ? text.replace(FIRST_RUN, '') : text;
      for (const one of secretsIn(looked)) found.set(one.start, one);
    }
    scanned.findings.push(...[...found.values()].map((one) => ({ ...one, file })));
  }
  return scanned;
}

function* piecesOf(path: string): Generator<string> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let at = 0; ; at += PIECE_BYTES - OVERLAP_BYTES) {
      const length = readSync(file, piece, 0, PIECE_BYTES, at);
      if (length > 0) yield piece.toString('latin1', 0, length);
      if (length < PIECE_BYTES) return;
    }
  } finally {
    closeSync(file);
  }
}
