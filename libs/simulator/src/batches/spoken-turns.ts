import { answerTo } from '../answer.js';
import { chatDialect } from '../chat.js';
import { errorOf } from '../faults.js';
import { JSON_TYPE } from '../reply.js';
import { readScript, ScriptFault } from '../script.js';
import type { SimAnswer } from '../sim-endpoint.js';

const KEPT_MAX = 64;

type Said =
  | { readonly text: string; readonly tokens: ReturnType<typeof answerTo>['tokens'] }
  /** The model's script refuses, or is none. */
  | { readonly refused: number; readonly message: string };

/**
 * Returns the simulated answer to the texts of a conversation, for providers whose own format is not one of OpenAI's.
 */
export function saidTo(model: string, texts: readonly string[]): Said {
  try {
    const script = readScript(model, undefined);
    const refused = errorOf(script, chatDialect);
    if (refused !== undefined) return { refused: refused.status, message: 'The script says so.' };
    const messages = texts.map((content) => ({ role: 'user', content }));
    const { text, tokens } = answerTo(chatDialect.readAsk({ model, messages }, script), script);
    return { text, tokens };
  } catch (fault) {
    if (fault instanceof ScriptFault) return { refused: 400, message: fault.message };
    throw fault;
  }
}

/** The oldest goes where there are too many. */
export function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > KEPT_MAX) map.delete(oldest);
}

export function json(value: object): SimAnswer {
  return { contentType: JSON_TYPE, body: JSON.stringify(value) };
}
