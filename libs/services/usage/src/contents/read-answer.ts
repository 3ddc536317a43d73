import { isObject, noteMember, numberText, parseSpelled } from '@gateway/json-body';
type Json = Record<string, unknown>;

/** Members that a delta repeats whole: all others are spelled by pieces. */
const ONCE: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'index', 'format', 'signature']);

/**
 * An answer as it was sent, as one object: a stream as the plain answer of its frames, because what is masked may be cut
 * in two by any frame. Null where it is neither.
 */
export function readAnswer(text: string): Json | null {
  if (!/^(?:data|event|id|retry)?:/.test(text)) return parsed(text);
  const frames = text.split('\n').flatMap((line): Json[] => {
    const frame = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : null;
    return frame === null ? [] : [frame];
  });
  if (frames.length === 0) return null;
  const failure = frames.find(({ error }) => isObject(error));
  const answer = foldFrames(frames);
  return failure === undefined ? answer : { ...answer, error: failure.error };
}

function foldFrames(frames: readonly Json[]): Json {
  const last = frames[frames.length - 1];
  const whole = frames.findLast(({ response }) => isObject(response));
  if (whole !== undefined && typeof whole.type === 'string') return whole.response as Json;
  if (frames.some(({ type }) => type === 'message_start')) return foldMessage(frames);
  if (frames.some(({ choices }) => Array.isArray(choices))) return foldChat(frames);
  // Of a transcript or an image: its last frame holds it whole.
  return last;
}

function foldChat(frames: readonly Json[]): Json {
  const answer: Json = {};
  const choices = new Map<number, Json>();
  for (const frame of frames) {
    for (const [name, value] of Object.entries(frame))
      if (name !== 'choices' && value !== null && value !== undefined) put(answer, name, value, frame);
    for (const [position, given] of objectsOf(frame.choices).entries()) {
      const { delta, index = position, ...rest } = given;
      const at = Number(index);
      const choice = choices.get(at) ?? { index: at, message: {} };
      choices.set(at, choice);
      if (isObject(delta)) join(choice.message as Json, delta);
      for (const [name, value] of Object.entries(rest)) if (value !== null) put(choice, name, value, given);
    }
  }
  return { ...answer, object: 'chat.completion', choices: [...choices.values()] };
}

/** Adds a delta to what came before. */
function join(into: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined || name === '__proto__') continue;
    const before = into[name];
    if (typeof value === 'string' && typeof before === 'string' && !ONCE.has(name))
      into[name] = before + value;
    else if (Array.isArray(value))
      into[name] = joined(Array.isArray(before) ? (before as unknown[]) : [], value);
    else if (isObject(value)) {
      if (isObject(before)) join(before, value);
      else put(into, name, { ...value }, delta);
    } else put(into, name, value, delta);
  }
}

/** Sets a member as `from` spells it. */
function put(into: Json, name: string, value: unknown, from: Json): void {
  if (!Object.hasOwn(into, name)) noteMember(into, name, value, numberText(from, name));
  into[name] = value;
}

/** Pieces with an index belong to the one with the same index. */
function joined(before: unknown[], pieces: readonly unknown[]): unknown[] {
  const list = [...before];
  for (const piece of pieces) {
    const index = isObject(piece) ? piece.index : undefined;
    const same = index === undefined ? undefined : list.find((one) => isObject(one) && one.index === index);
    if (isObject(piece) && isObject(same)) join(same, piece);
    else list.push(isObject(piece) ? { ...piece } : piece);
  }
  return list;
}

function foldMessage(frames: readonly Json[]): Json {
  let message: Json = {};
  const blocks = new Map<unknown, Json>();
  for (const frame of frames) {
    const block = blocks.get(frame.index);
    if (frame.type === 'message_start' && isObject(frame.message)) message = { ...frame.message };
    else if (frame.type === 'content_block_start' && isObject(frame.content_block))
      blocks.set(frame.index, { ...frame.content_block });
    else if (frame.type === 'content_block_delta' && block && isObject(frame.delta)) grow(block, frame.delta);
    else if (frame.type === 'message_delta')
      Object.assign(message, frame.delta, isObject(frame.usage) ? { usage: frame.usage } : {});
  }
  return { ...message, content: [...blocks.values()].map(withInput) };
}

function grow(block: Json, delta: Json): void {
  const { type: _type, citation, ...pieces } = delta;
  join(block, pieces);
  if (citation !== undefined)
    block.citations = [...(Array.isArray(block.citations) ? (block.citations as unknown[]) : []), citation];
}

/** The input of a tool is spelled by fragments of JSON. */
function withInput({ partial_json: fragments, ...block }: Json): Json {
  if (typeof fragments !== 'string') return block;
  return { ...block, input: parsed(fragments) ?? fragments };
}

function parsed(text: string): Json | null {
  try {
    const value = parseSpelled(text);
    return isObject(value) ? value : null;
  } catch {
    return null; // `[DONE]`, or no JSON at all.
  }
}

function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : [];
}
