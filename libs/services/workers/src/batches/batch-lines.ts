import { BodyFault, isObject, parseBody, spellBody } from '@gateway/json-body';

type Json = Record<string, unknown>;

export interface BatchLine {
  /** Number of the line, from 0. */
  number: number;
  custom_id: string;
  body: Json;
  /** Characters of the whole line. */
  length: number;
}

/** One that cannot be run; `line` counts from 1, as the caller does. */
export interface LineFault {
  code: string;
  message: string;
  param: string | null;
  line: number;
}

export const LINES_MAX = 50_000;
export const LINE_BYTES_MAX = 8 * 1_024 * 1_024;
const CUSTOM_ID_LENGTH_MAX = 512;

/** A line of the form that batches take, or what is wrong with it. */
export function readLine(text: string, number: number, endpoint: string): BatchLine | LineFault {
  const line = number + 1;
  // Within the bounds of a body: what it holds is sent as one.
  const parsed = parseBody(Buffer.from(text));
  if (parsed instanceof BodyFault)
    return { code: 'invalid_json_line', message: messageOf(parsed), param: null, line };
  spellBody(parsed);
  const { custom_id, method, url, body } = parsed.value;
  const fault = (param: string, message: string): LineFault => ({
    code: param === 'custom_id' ? 'missing_required_parameter' : 'invalid_request',
    message,
    param,
    line,
  });
  if (typeof custom_id !== 'string' || custom_id === '' || custom_id.length > CUSTOM_ID_LENGTH_MAX)
    return fault('custom_id', `custom_id is a text of 1 to ${CUSTOM_ID_LENGTH_MAX} characters.`);
  if (method !== 'POST') return fault('method', 'method is POST.');
  if (url !== endpoint) return fault('url', `url is the endpoint of the batch, ${endpoint}.`);
  if (!isObject(body)) return fault('body', 'body is a JSON object.');
  if (typeof body.model !== 'string') return fault('body.model', 'Each line names its model.');
  if (body.stream === true) return fault('body.stream', 'A batch has no streams.');
  return { number, custom_id, body, length: text.length };
}

function messageOf({ detail: { type, msg } }: BodyFault): string {
  if (type === 'json_invalid') return 'This line is not JSON.';
  return type === 'json_not_object' ? 'This line is no JSON object.' : `This line cannot be taken: ${msg}.`;
}

/** Looks at whole files: that ids are unique, that there is one model, and that there are not too many lines. */
export class FileCheck {
  total = 0;
  readonly faults: LineFault[] = [];
  private readonly ids = new Set<string>();

  constructor(private readonly model: string) {}

  /** False where enough is wrong. */
  see(line: BatchLine | LineFault): boolean {
    this.total += 1;
    const at = this.total;
    if ('message' in line) this.faults.push(line);
    else if (this.ids.has(line.custom_id))
      this.add(
        'duplicate_custom_id',
        `custom_id ${line.custom_id.slice(0, 80)} was used before.`,
        'custom_id',
        at,
      );
    else if (line.body.model !== this.model)
      this.add(
        'mismatched_model',
        `All lines have one model; the first has ${this.model}.`,
        'body.model',
        at,
      );
    else this.ids.add(line.custom_id);
    if (this.total > LINES_MAX)
      this.add('too_many_tasks', `A batch has at most ${LINES_MAX} lines.`, null, at);
    return this.faults.length < FAULTS_MAX && this.total <= LINES_MAX;
  }

  private add(code: string, message: string, param: string | null, line: number): void {
    this.faults.push({ code, message, param, line });
  }
}

const FAULTS_MAX = 100;
