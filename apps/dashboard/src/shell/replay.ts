/** A turn of a conversation that can be sent again. */
interface ReplayedTurn {
  role: 'user' | 'assistant';
  text: string;
  /** A data URL. */
  image?: string;
}

/** Conversation of a logged request, as the playground takes it. */
export interface Replay {
  system: string;
  /** Turns before the last message. */
  past: ReplayedTurn[];
  /** The last message, to be sent again. */
  last: ReplayedTurn;
  temperature: string;
  maxTokens: string;
  /** JSON of the tools; empty = none. */
  tools: string;
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Conversation kept with the entry of the history, never in the address: a prompt is nobody else’s. */
    replay?: Replay;
  }
}

type Json = Record<string, unknown>;

/**
 * Reads the conversation out of a body of chat completions, messages or responses. Null where it has none, or no last
 * message of a user. Turns without text and picture are left out.
 */
export function replayOf(body: unknown): Replay | null {
  if (!isObject(body)) return null;
  const { input, messages = input } = body;
  const all = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  if (!Array.isArray(all)) return null;
  const said = all.filter(isObject);
  const systems = said.filter(({ role }) => role === 'system' || role === 'developer');
  const turns = said.map(turnOf).filter((turn) => turn !== null);
  const last = turns.at(-1);
  if (last?.role !== 'user') return null;
  return {
    system: [body.system, body.instructions, ...systems.map(({ content }) => content)]
      .map(textOf)
      .filter(Boolean)
      .join('\n\n'),
    past: turns.slice(0, -1),
    last,
    temperature: figure(body.temperature),
    maxTokens: figure(body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens),
    tools: Array.isArray(body.tools) && body.tools.length > 0 ? JSON.stringify(body.tools, null, 2) : '',
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function turnOf({ role, content }: Json): ReplayedTurn | null {
  if (role !== 'user' && role !== 'assistant') return null;
  const text = textOf(content);
  const image = imageOf(content);
  if (text === '' && image === undefined) return null;
  return { role, text, ...(image === undefined ? {} : { image }) };
}

/** Text of a content: itself, or that of its parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isObject)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/** The first picture that a message holds itself; one behind an address is left out. */
function imageOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  return content
    .filter(isObject)
    .map(({ image_url: image }) => (isObject(image) ? image.url : image))
    .filter((url) => typeof url === 'string')
    .find((url) => url.startsWith('data:image/'));
}

function figure(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}
