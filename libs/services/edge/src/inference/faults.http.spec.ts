import { eventually, startFaultProxy, type FaultProxy, type Faults } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { framesOf, isEnded } from './stream-reader.fixture.js';

/** Both upstream dialects, each under the simulator's name and under a real provider's. */
const PROVIDERS: [slug: string, upstreamModel: string][] = [
  ['simulated', 'sim-chat'],
  ['openai', 'sim-chat'],
  ['simulated-messages', 'sim-claude'],
  ['anthropic', 'sim-claude'],
];
const PATHS = ['/v1/chat/completions', '/v1/messages'];
/** The answer to callers: an HTTP status, or `in-band` for an error after the first event of a stream. */
type Expected = [plain: string, stream: string];
const SLOW: Faults = { toClient: { pieceBytes: 1 }, toServer: { pieceBytes: 200 } };
/** Bytes of an answer's head and a little more: past it a stream has begun, a plain answer has not ended. */
const INSIDE = 700;
const LONG = ':bytes=8000;chunk=200';

const FAULTS: [name: string, faults: Faults, expected: Expected, script?: string][] = [
  ['latency', { toClient: { latencyMs: 20 } }, ['200', '200']],
  ['slices of one byte', SLOW, ['200', '200'], ':text=one two three'],
  ['a refused connection', { connect: 'reset' }, ['502 connection_error', '502 connection_error']],
  ['a connection that hangs', { connect: 'hang' }, ['504 provider_timeout', '504 provider_timeout']],
  [
    'half-open before the first byte',
    { toClient: { isStalled: true } },
    ['504 provider_timeout', '504 provider_timeout'],
  ],
  [
    'a reset before the first byte',
    { toClient: { cutAfterBytes: 0, cutBy: 'reset' } },
    ['502 connection_error', '502 connection_error'],
  ],
  [
    'a reset inside the answer',
    { toClient: { cutAfterBytes: INSIDE, cutBy: 'reset', pieceBytes: 100 } },
    ['502 connection_error', 'in-band connection_error'],
    LONG,
  ],
  [
    'an end inside the answer',
    { toClient: { cutAfterBytes: INSIDE, cutBy: 'end', pieceBytes: 100 } },
    ['502 connection_error', 'in-band connection_error'],
    LONG,
  ],
];

describe('U01 faults between the edge and a provider', () => {
  let edge: EdgeUnderTest;
  let proxy: FaultProxy;
  const keys = { patient: '', brief: '' };
  beforeAll(async () => {
    edge = await startEdge({
      upstreams: async (sim) => {
        proxy = await startFaultProxy(sim.url);
        return Object.fromEntries(PROVIDERS.map(([slug]) => [slug, `http://${proxy.address}`]));
      },
    });
    const routingPolicy = { max_retries: 0 };
    keys.patient = edge.addKey(testPrincipal('key_patient', { routingPolicy }));
    const brief = { ...routingPolicy, attempt_timeout_ms: 300 };
    keys.brief = edge.addKey(testPrincipal('key_brief', { routingPolicy: brief }));
  });
  afterAll(async () => {
    await edge.close();
    await proxy.close();
  });

  let models = 0;
  async function outcome(
    provider: string,
    upstreamModel: string,
    path: string,
    stream: boolean,
    key: string,
  ) {
    // A model of its own, so that no breaker of an earlier case is open.
    models += 1;
    const [name, script = ''] = upstreamModel.split(/(?=:)/);
    const model = edge.serve(`faults/m${models}`, { provider, upstreamModel: `${name}-${models}${script}` });
    const answer = await edge.post(hello(model, { stream }), { key, path });
    const text = await answer.text();
    const record = await edge.record(answer);
    const [attempt] = record.attempts as Json[];
    const broke = framesOf(stream && answer.ok ? text : '').find(({ data }) => data?.error !== undefined);
    if (answer.ok && broke === undefined) {
      expect([stream && !isEnded(text), record.status]).toEqual([false, 'success']);
      return String(answer.status);
    }
    expect(record).toMatchObject({ status: 'error', outcome: 'failed' });
    return `${broke === undefined ? answer.status : 'in-band'} ${String(attempt.provider_code)}`;
  }

  it.each(FAULTS)(
    '%s: the right code for every provider, and nothing left open',
    async (_name, faults, expected, script = '') => {
      proxy.resetAll();
      await eventually(() => proxy.open() === 0);
      proxy.set(faults);
      // What is late for one is only slow for the other.
      const key = expected[0].startsWith('504') ? keys.brief : keys.patient;
      const cases = PROVIDERS.flatMap(([provider, upstreamModel]) =>
        PATHS.flatMap((path) => [false, true].map((stream) => ({ provider, upstreamModel, path, stream }))),
      );
      const outcomes = await Promise.all(
        cases.map(async (each) => ({
          ...each,
          is: await outcome(each.provider, each.upstreamModel + script, each.path, each.stream, key),
        })),
      );
      expect(outcomes).toEqual(cases.map((each) => ({ ...each, is: expected[each.stream ? 1 : 0] })));
      const metrics = await (await fetch(`${edge.url}/metrics`)).text();
      expect(metrics).toMatch(/^gateway_upstream_requests_in_flight(?:\{.*\})? 0$/m);
      proxy.set({});
      proxy.resetAll();
      await eventually(() => proxy.open() === 0 && edge.sim.connections().open === 0);
    },
  );
});
