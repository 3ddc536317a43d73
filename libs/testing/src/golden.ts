import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Versions that are served: each has a file of its own per surface. */
export const GOLDEN_VERSIONS = ['2026-08', '2026-09'];

const IS_WRITING = process.env.GOLDEN_WRITE === '1';
/** Members whose value differs from run to run. */
const TIMES = 'created|created_at|completed_at|updated_at|expires_at';

type Json = Record<string, unknown>;

interface GoldenAnswer extends Json {
  status: number;
  content_type: string;
  version: string | null;
  body: unknown;
}

/**
 * Compares a version's answers on one surface with `<folder>/<version>.golden.json`: a release adds members, it
 * removes, renames and retypes none. After a wanted addition: GOLDEN_WRITE=1 node test.mjs --ci golden, and read the
 * difference.
 */
export function goldenAnswers(
  folder: string,
  version: string,
): { of(name: string, answered: Json): Json | undefined; save(): void } {
  const file = join(process.cwd(), folder, `${version}.golden.json`);
  const kept = (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}) as Record<string, Json>;
  return {
    /** The kept answer, which holds the least that is answered; undefined where none was ever kept. */
    of: (name, answered) => {
      if (IS_WRITING) kept[name] = answered;
      return kept[name];
    },
    save: () => {
      if (IS_WRITING) writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
    },
  };
}

/** Returns an answer as a caller sees it, without what differs from run to run. */
export async function goldenAnswer(answer: Response): Promise<GoldenAnswer> {
  const type = answer.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await answer.arrayBuffer());
  return {
    status: answer.status,
    content_type: type,
    version: answer.headers.get('x-service-version'),
    body: bodyOf(type, bytes),
  };
}

function bodyOf(type: string, bytes: Buffer): unknown {
  const text = (): string => masked(bytes.toString('utf8'));
  if (type.startsWith('application/json')) return JSON.parse(text());
  if (type.startsWith('text/event-stream')) return framesOf(text());
  return type.startsWith('text/') ? text() : `${bytes.byteLength} bytes`;
}

/** Ids, times, links and pictures are blanked, and the words of errors, which no version promises. */
function masked(text: string): string {
  return text
    .replace(/"([a-z]+)([-_])(?:sim[0-9a-z_]+|[0-9a-zA-Z-]{16,})"/g, '"$1$2…"')
    .replace(/"(latency_ms|ttft_ms)":[\d.]+/g, '"$1":0')
    .replace(new RegExp(`"(${TIMES})":\\d+`, 'g'), '"$1":0')
    .replace(/"(created_at)":"\d{4}-[^"]+"/g, '"$1":"…"')
    .replace(/"(url)":"http:[^"]+"/g, '"$1":"…"')
    .replace(/"(b64_json)":"[^"]+"/g, '"$1":"…"')
    .replace(/"(message|msg)":"(?:[^"\\]|\\.)*"/g, '"$1":"…"');
}

/** The events of a stream. */
function framesOf(text: string): Json[] {
  return text
    .trimEnd()
    .split('\n\n')
    .map((frame) => {
      const [, event = null, data] = /^(?:event: (\S+)\n)?data: (.+)$/.exec(frame) ?? [];
      return { event, data: data === '[DONE]' ? data : (JSON.parse(data) as unknown) };
    });
}
