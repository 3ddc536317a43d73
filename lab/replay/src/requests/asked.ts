import { list, object, text, type Json } from '../facts/answer-facts.js';

/** One turn of a recorded request: what each format can say. */
export interface AskedTurn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  images: { mediaType: string; data: string }[];
  calls: { id: string; name: string; arguments: string }[];
  /** Id of the call that a `tool` turn answers. */
  callId: string;
}

/** A recorded request, whichever format it was written in: enough to ask the same through another one. */
export interface Asked {
  turns: AskedTurn[];
  tools: { name: string; description: string; parameters: Json }[];
  stream: boolean;
}

export function turn(role: AskedTurn['role'], more: Partial<AskedTurn> = {}): AskedTurn {
  return { role, text: '', images: [], calls: [], callId: '', ...more };
}

/** Returns words for what no other format would take, so that the turn is not empty. */
function wordsOf(parts: unknown[]): string {
  const words = parts.map((part) => text(object(part).text)).join('');
  return words === '' && parts.length > 0 ? '[an attachment]' : words;
}

export function contentWords(content: unknown): string {
  return typeof content === 'string' ? content : wordsOf(list(content));
}

export function schemaOf(value: unknown): Json {
  const schema = object(value);
  // Gemini writes types in capitals, which its own schema subset takes and JSON Schema does not.
  const isCapital = /"type":"[A-Z]+"/.test(JSON.stringify(schema));
  return isCapital || Object.keys(schema).length === 0 ? { type: 'object', properties: {} } : schema;
}
