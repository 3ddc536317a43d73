import { answerTo } from '../answer.js';
import { chatDialect } from '../chat.js';
import { simulated as embeddings } from '../embeddings/embeddings.sim.js';
import type { NativeError } from '../error-table.js';
import { errorOf } from '../faults.js';
import { isObject, parseJson, textOf, type JsonObject } from '../json.js';
import { simulated as moderations } from '../moderations/moderations.sim.js';
import { JSON_TYPE } from '../reply.js';
import { responsesDialect } from '../responses.js';
import { readScript, ScriptFault } from '../script.js';
import { isNativeError, type SimEndpoint } from '../sim-endpoint.js';
import type { SimBatch } from './batch-shelf.js';

const DIALECTS = new Map([
  ['/v1/chat/completions', chatDialect],
  ['/v1/responses', responsesDialect],
]);
const ENDPOINTS = new Map<string, SimEndpoint>([
  ['/v1/embeddings', embeddings],
  ['/v1/moderations', moderations],
]);

/**
 * The file of answers or the one of failures. Of a batch that was cancelled the first half of the lines has an answer, as if
 * the cancel had come in its midst.
 */
export function resultLines(batch: SimBatch, file: Buffer, kind: 'output' | 'errors'): string {
  const lines = file.toString('utf8').split('\n').filter(Boolean);
  const answered = batch.status === 'cancelled' ? Math.ceil(lines.length / 2) : lines.length;
  let text = '';
  for (const [at, line] of lines.entries()) {
    const result = at < answered ? answerOf(line, at, batch) : cancelled(line, at);
    if ((result.status === 200) === (kind === 'output')) text += `${JSON.stringify(result.line)}\n`;
  }
  return text;
}

interface Result {
  status: number | null;
  line: object;
}

function cancelled(text: string, at: number): Result {
  const { custom_id } = parseJson(text) as JsonObject;
  const error = { code: 'batch_cancelled', message: 'This request was cancelled with its batch.' };
  return { status: null, line: { id: `batch_req_${at}`, custom_id, response: null, error } };
}

function answerOf(text: string, at: number, { endpoint, createdAt }: SimBatch): Result {
  const { custom_id, body } = parseJson(text) as JsonObject;
  const birth = { id: String(at).padStart(12, '0'), createdAt };
  const found = answered(endpoint, isObject(body) ? body : {}, birth);
  const status = 'status' in found ? found.status : 200;
  const response = { status_code: status, request_id: `req_${at}`, body: found.body };
  return { status, line: { id: `batch_req_${at}`, custom_id, response, error: null } };
}

function answered(
  endpoint: string,
  json: JsonObject,
  birth: { id: string; createdAt: number },
): NativeError | { body: unknown } {
  const dialect = DIALECTS.get(endpoint) ?? chatDialect;
  try {
    const script = readScript(textOf(json.model), undefined);
    const refused = errorOf(script, dialect);
    if (refused !== undefined) return refused;
    const whole = ENDPOINTS.get(endpoint);
    if (whole === undefined) {
      const wrong = dialect.check(json, {}, script);
      if (wrong !== undefined) return wrong;
      const ask = dialect.readAsk(json, script);
      return { body: dialect.plain({ ...birth, ask, answer: answerTo(ask, script), script }) };
    }
    const sent = { json, body: Buffer.alloc(0), contentType: JSON_TYPE, path: endpoint, origin: '' };
    const answer = whole.answer({ ...sent, ...birth, script });
    return isNativeError(answer) ? answer : { body: parseJson(String(answer.body)) };
  } catch (failure) {
    if (failure instanceof ScriptFault) return dialect.refuse(400, failure.message);
    throw failure;
  }
}
