import { randomBytes } from 'node:crypto';
import { SystemClock } from '@gateway/platform';
import type { RecordedRequest } from '@gateway/simulator';
import { eventually, HandClock } from '@gateway/testing';
import { startEdge, testModel, type EdgeUnderTest } from '../edge.fixture.js';

/** The upstreams that every promise to an SDK is proven over: the same dialect as the caller's, and the others. */
export const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
type UpstreamName = (typeof UPSTREAMS)[number];

/** One simulated behaviour behind both upstreams; `word` and `script` are the simulator's grammar. */
export interface Behaviour {
  word?: string;
  script?: string;
  /** The script of the messages upstream where its provider names things otherwise. */
  messagesScript?: string;
}

function modelId(upstream: UpstreamName, behaviour = 'plain'): string {
  return `simulator/${upstream}-${behaviour}`;
}

export interface EdgeForSdks extends EdgeUnderTest {
  /** The model of a behaviour behind an upstream; the plain one unless named. */
  model(upstream: UpstreamName, behaviour?: string): string;
  /** Requests that carried a key which the edge knew or not, since the last `forget()`. */
  requests(): number;
  /** Requests that the upstream saw since the last `forget()`. */
  upstream(): RecordedRequest[];
  /** Waits until the first of them is closed by the edge; the seconds for which it waits for usage pass five times as fast. */
  untilLeft(): Promise<unknown>;
  forget(): void;
  /** Another name than every one before: limits of a key are counted over the tests. */
  newName(): string;
  /** Makes the next requests' authentication throw, for failures of the service itself. */
  failAuthentication(times: number, error: Error): void;
}

/** An edge whose catalogue has `<upstream>-<behaviour>` for every behaviour named, and `<upstream>-plain`. */
export async function startEdgeForSdks(behaviours: Record<string, Behaviour>): Promise<EdgeForSdks> {
  const all = Object.entries<Behaviour>({ plain: {}, ...behaviours });
  const upstreamModel = (base: string, { word, script }: Behaviour): string =>
    `${base}${word === undefined ? '' : `-${word}`}${script === undefined ? '' : `:${script}`}`;
  const models = all.flatMap(([name, behaviour]) => [
    testModel(modelId('chat', name), [
      { provider: 'simulated', upstreamModel: upstreamModel('sim-chat', behaviour) },
    ]),
    testModel(modelId('responses', name), [
      {
        provider: 'simulated',
        upstreamModel: upstreamModel('sim-chat', behaviour),
        dialect: 'responses',
      },
    ]),
    testModel(modelId('messages', name), [
      {
        provider: 'simulated-messages',
        upstreamModel: upstreamModel('sim-claude', {
          ...behaviour,
          script: behaviour.messagesScript ?? behaviour.script,
        }),
      },
    ]),
  ]);
  const clock = new HandClock(new SystemClock());
  const edge = await startEdge({ models, clock });
  const known = new Set(models.map(({ record }) => record.id));
  const faults: Error[] = [];
  let requests = 0;
  let names = 0;
  const { principals } = edge;
  const resolve = principals.resolve.bind(principals);
  const remembered = principals.remembered.bind(principals);
  // A request that memory answers is not resolved.
  principals.remembered = (credential) => {
    const principal = faults.length > 0 ? null : remembered(credential);
    if (principal !== null) requests += 1;
    return principal;
  };
  principals.resolve = (credential) => {
    requests += 1;
    const fault = faults.shift();
    return fault ? Promise.reject(fault) : resolve(credential);
  };
  return {
    ...edge,
    model: (upstream, behaviour) => {
      const id = modelId(upstream, behaviour);
      if (!known.has(id)) throw new TypeError(`no behaviour of ${id}`);
      return id;
    },
    requests: () => requests,
    upstream: () => edge.sim.requests(),
    untilLeft: () =>
      eventually(() => {
        clock.advance(100);
        return edge.sim.requests()[0].aborted;
      }),
    forget: () => {
      requests = 0;
      edge.sim.reset();
    },
    newName: () => `n${(names += 1)}`,
    failAuthentication: (times, error) => {
      for (let n = 0; n < times; n += 1) faults.push(error);
    },
  };
}

/** Bytes that no translation may change: every value of a byte, behind the signature of a PNG. */
export const IMAGE = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
  randomBytes(3_000),
]).toString('base64');

/** The parts of the first message that an upstream was sent, in whatever format it speaks. */
export function partsOf({ body }: RecordedRequest): unknown[] {
  const { messages, input } = JSON.parse(body) as Record<'messages' | 'input', { content: unknown[] }[]>;
  return (messages ?? input)[0].content;
}

/** The picture as each format writes it. */
export function imagePart(upstream: UpstreamName): object {
  const url = `data:image/png;base64,${IMAGE}`;
  if (upstream === 'chat') return { type: 'image_url', image_url: { url } };
  if (upstream === 'responses') return { type: 'input_image', image_url: url };
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } };
}

export const WEATHER_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, days: { type: 'integer' as const } },
  required: ['city', 'days'],
  additionalProperties: false,
};

export const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false } as const;

/** A prompt of five megabytes whose end an answer quotes. */
export function bigPrompt(): string {
  return `${'All work and no play. '.repeat(Math.ceil(5_000_000 / 22))}The end.`;
}

export function errorOf<T>(running: PromiseLike<T>): Promise<unknown> {
  return Promise.resolve(running).then(
    (value) => {
      throw new Error(`no error but ${JSON.stringify(value).slice(0, 300)}`);
    },
    (error: unknown) => error,
  );
}

/** Behaviours of an upstream that fails. */
export const FAULTS: Record<string, Behaviour> = {
  context: { script: 'error=context' },
  broken: { script: 'error=500' },
  'overloaded-once': {
    script: 'error=503;retry_after=1;fail=1',
    messagesScript: 'error=529;retry_after=1;fail=1',
  },
  silent: { script: 'hang' },
  endless: { script: 'endless;delay=2' },
  cut: { script: 'cut=6' },
  reset: { script: 'cut=6;cut_how=reset' },
  inband: { script: 'inband=6;error=500' },
  'inband-first': { script: 'inband=0;error=500' },
};
