import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { GatewayConfigError } from '@gateway/providers';
import { NotReadable } from './litellm/config-file.js';
import { readLiteLlm } from './litellm/read-litellm.js';
import { ReleaseData } from './litellm/release.js';
import { gatewayYaml, linesOf, writeDraft } from './written-draft.js';

interface Options {
  out?: string;
}

interface Output {
  lines: string[];
  /** Words for people, where it could not be done. */
  fault: string | null;
  /** 0; 1 for what cannot be read; 2 for wrong usage. */
  code: 0 | 1 | 2;
}

const FILE_BYTES_MAX = 16 * 1_024 * 1_024;

/** Reads the configuration of another gateway and answers what it would write here. */
export function runImport(
  path: string,
  { out }: Options,
  env: Readonly<Record<string, string | undefined>>,
): Output {
  const misused = (fault: string): Output => ({ lines: [], fault, code: 2 });
  if (!existsSync(path)) return misused(`${path} is not there`);
  if (out !== undefined && existsSync(out)) return misused(`${out} is there already: name a new folder`);
  try {
    const release = new ReleaseData();
    const { draft } = readLiteLlm({ text: readText(path), name: basename(path) }, release, env);
    const yaml = gatewayYaml(draft, release.seed);
    if (out !== undefined) writeDraft(out, draft, yaml);
    const lines = linesOf(draft);
    return { lines: lines.length === 0 ? ['nothing to write'] : lines, fault: null, code: 0 };
  } catch (failure) {
    if (!(failure instanceof NotReadable) && !(failure instanceof GatewayConfigError)) throw failure;
    return { lines: [], fault: failure.message, code: 1 };
  }
}

/** Throws NotReadable. */
function readText(path: string): string {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new NotReadable(`${path} has more than 16 MiB`);
    return readFileSync(path, 'utf8');
  } catch (failure) {
    throw new NotReadable(failure instanceof Error ? failure.message : String(failure));
  }
}
