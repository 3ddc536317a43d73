import type { Random } from '@gateway/contracts';

/** One request whose usage, and so whose cost, is decided before it is sent. */
export interface Work {
  n: number;
  dialect: 'chat' | 'messages';
  stream: boolean;
  promptTokens: number;
  /** Tokens within the prompt tokens (chat), or beside them (messages). */
  cachedTokens: number;
  completionTokens: number;
  /** Frames of a stream, and the pause before each; a plain answer comes after all of them. */
  frames: number;
  gapMs: number;
  /** Intended end: the upstream dies in mid-stream, or the caller leaves there. */
  ending: 'whole' | 'upstream_dies' | 'caller_leaves';
}

const MODELS = { chat: 'simulator/chat', messages: 'simulator/claude' } as const;
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
/** USD of 10^-12 per token, which is USD per million tokens times a million: libs/services/catalogue/data/simulated.json. */
const PICO_PER_TOKEN = {
  chat: { prompt: 500_000n, cached: 50_000n, completion: 2_000_000n },
  messages: { prompt: 1_000_000n, cached: 100_000n, completion: 5_000_000n },
} as const;
/** Number of streamed requests in a hundred that end badly. */
const ENDS_BADLY = 6;

export function pathOf({ dialect }: Work): string {
  return PATHS[dialect];
}

/** The work of one seed: the same for the same numbers. */
export function drawWork(n: number, random: Random): Work {
  const upTo = (most: number): number => Math.floor(random.fraction() * most);
  const dialect = upTo(2) === 0 ? 'chat' : 'messages';
  const stream = upTo(2) === 0;
  const promptTokens = 1 + upTo(5_000);
  const chance = upTo(100);
  const isLong = upTo(10) === 0;
  return {
    n,
    dialect,
    stream,
    promptTokens,
    cachedTokens: upTo(3) === 0 ? upTo(promptTokens) : 0,
    completionTokens: 1 + upTo(3_000),
    frames: 1 + upTo(12),
    gapMs: isLong ? 50 + upTo(150) : upTo(15),
    ending:
      stream && chance < ENDS_BADLY ? (chance < ENDS_BADLY / 2 ? 'upstream_dies' : 'caller_leaves') : 'whole',
  };
}

/** A plain answer like most of a benchmark's. */
export function plainWork(n: number): Work {
  return {
    ...{ n, dialect: 'chat', stream: false, promptTokens: 200, cachedTokens: 0, completionTokens: 180 },
    ...{ frames: 0, gapMs: 0, ending: 'whole' },
  };
}

/** Computed here, and nowhere else by anything of this file's: the ledger has to come to the same last decimal. */
export function expectedPico(work: Work): bigint {
  const price = PICO_PER_TOKEN[work.dialect];
  const cached = BigInt(work.cachedTokens);
  // Chat counts cached tokens among the prompt's, messages beside them.
  const prompt = BigInt(work.promptTokens) - (work.dialect === 'chat' ? cached : 0n);
  return prompt * price.prompt + cached * price.cached + BigInt(work.completionTokens) * price.completion;
}

/** The text that the upstream reads its orders from, and says first, so that an answer cannot be another's. */
export function orderOf(work: Work): string {
  return `chaos ${JSON.stringify(work)} `;
}

export function workOf(text: string): Work | null {
  const found = /chaos (\{[^}]*\}) /.exec(text);
  return found ? (JSON.parse(found[1]) as Work) : null;
}

export function bodyOf(work: Work): string {
  const { dialect, stream } = work;
  const messages = [{ role: 'user', content: orderOf(work) }];
  return JSON.stringify({ model: MODELS[dialect], messages, stream, max_tokens: 4_096 });
}

/** The mark in every answer to this work. */
export function markOf({ n }: Pick<Work, 'n'>): string {
  return `#${n}.`;
}

/** An amount in units of 10^-12 USD, from numeric(38,12) or from the wire. */
export function pico(usd: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(usd) ?? [];
  if (whole === undefined) throw new Error(`${usd} is not an amount.`);
  return BigInt(`${sign}${whole}${fraction.padEnd(12, '0')}`);
}
