import type { CatalogueModel, ModelRecord, PriceRecord } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import WebSocket from 'ws';
import { testModel, testPrincipal, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const PRICE: PriceRecord = {
  prompt_usd_per_1m: '1',
  completion_usd_per_1m: '2',
  audio_input_usd_per_1m: '10',
  audio_output_usd_per_1m: '20',
};
const REALTIME: Partial<ModelRecord> = {
  model_type: 'audio',
  supports_realtime: true,
  supports_completions_api: false,
};

function speaking(id: string, upstreamModel = 'sim-realtime', price = PRICE): CatalogueModel {
  const made = testModel(id, [{ provider: 'simulated', upstreamModel, dialect: 'realtime' }], REALTIME);
  return { ...made, routes: made.routes.map((route) => ({ ...route, price })) };
}

function hearing(id: string, provider = 'simulated'): CatalogueModel {
  const made = testModel(id, [{ provider, upstreamModel: 'sim-hear', dialect: 'transcriptions' }], {
    model_type: 'stt',
    supports_completions_api: false,
  });
  const price = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.6' };
  return { ...made, routes: made.routes.map((route) => ({ ...route, price })) };
}

export const REALTIME_MODELS = [
  speaking('acme/voice'),
  speaking('acme/busy', 'sim-busy'),
  speaking('acme/by-minute', 'sim-realtime', { audio_usd_per_minute: '60', billing_increment_seconds: '0' }),
  hearing('acme/hears'),
  hearing('acme/hears-elsewhere', 'openai'),
];
/** One second of 16 bit at 24 kHz. */
export const SECOND = Buffer.alloc(48_000).toString('base64');

export class RealtimeClient {
  readonly events: Json[] = [];
  readonly closed: Promise<number>;
  private waiting: (() => void) | null = null;

  constructor(readonly ws: WebSocket) {
    ws.on('message', (data: Buffer) => {
      this.events.push(JSON.parse(data.toString('utf8')) as Json);
      this.waiting?.();
    });
    ws.on('error', () => undefined);
    this.closed = new Promise((resolve) => ws.once('close', resolve));
  }

  send(...events: Json[]): void {
    if (this.ws.readyState === this.ws.CONNECTING) {
      this.ws.once('open', () => this.send(...events));
      return;
    }
    for (const event of events) this.ws.send(JSON.stringify(event));
  }

  say(text: string): void {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
    this.send({ type: 'conversation.item.create', item }, { type: 'response.create' });
  }

  /** The next event of a type; those before it stay where they are. */
  async next(type: string): Promise<Json> {
    for (;;) {
      const at = this.events.findIndex((event) => event.type === type);
      if (at >= 0) return this.events.splice(at, 1)[0];
      await new Promise<void>((resolve) => (this.waiting = resolve));
    }
  }
}

export const urlOf = (
  edge: EdgeUnderTest,
  model: string,
  query = `model=${encodeURIComponent(model)}`,
): string => `${edge.url.replace('http', 'ws')}/v1/realtime?${query}`;

export function connect(
  edge: EdgeUnderTest,
  model = 'acme/voice',
  key = edge.key,
  headers: Record<string, string> = {},
): RealtimeClient {
  return new RealtimeClient(
    new WebSocket(urlOf(edge, model), { headers: { authorization: `Bearer ${key}`, ...headers } }),
  );
}

/** A key of a test's own, and the records of what it did, once so many are shipped. */
export function ownKey(
  edge: EdgeUnderTest,
  keyId: string,
): { key: string; records: (count: number) => Promise<Json[]> } {
  const key = edge.addKey(testPrincipal(keyId));
  const records = (count: number): Promise<Json[]> =>
    eventually(() => {
      const found = edge.shipped().filter(({ key_id: of }) => of === keyId);
      return found.length >= count ? found.sort((a, b) => Number(a.unit) - Number(b.unit)) : null;
    });
  return { key, records };
}

export const codeOf = (event: Json): unknown => (event.error as Json).code;
