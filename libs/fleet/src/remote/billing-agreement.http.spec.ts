import type { BillingMode } from '@gateway/contracts';
import { InternalHttp, ReadinessChecks, SystemClock } from '@gateway/platform';
import {
  eventually,
  seededRandom,
  startUpstreamDouble,
  type ScriptedAnswer,
  type UpstreamDouble,
} from '@gateway/testing';
import type { Logger } from 'pino';
import { BillingAgreement } from './billing-agreement.js';

const random = seededRandom(1);
const says = (billing: BillingMode): ScriptedAnswer => ({ json: { billing } });
const AWAY: ScriptedAnswer = { status: 503 };

let service: UpstreamDouble;
let http: InternalHttp;
let answers: Record<string, ScriptedAnswer>;
let agreement: BillingAgreement | undefined;
const said: string[] = [];

beforeEach(async () => {
  said.length = 0;
  service = await startUpstreamDouble(({ path }) => answers[path]);
  const services = { keys: service.url, usage: service.url };
  http = new InternalHttp({ clock: new SystemClock(), random, fleetToken: 't', services });
});
afterEach(async () => {
  await agreement?.beforeApplicationShutdown();
  await http.close();
  await service.close();
});

async function started(
  own: BillingMode,
  keys: ScriptedAnswer,
  usage: ScriptedAnswer,
): Promise<ReadinessChecks> {
  answers = { '/auth/options': keys, '/internal/billing': usage };
  const readiness = new ReadinessChecks();
  const logger = { error: (text: unknown) => void said.push(String(text)) } as unknown as Logger;
  agreement = new BillingAgreement(own, http, readiness, new SystemClock(), logger);
  await agreement.onModuleInit();
  return readiness;
}

describe('an edge and its neighbours', () => {
  it.each(['prepaid', 'off'] as const)('serve where all bill alike: %s', async (mode) => {
    expect((await started(mode, says(mode), says(mode))).faults()).toEqual({});
    expect([service.seen.length, said]).toEqual([2, []]);
  });

  it.each([
    ['keys', says('prepaid'), says('off')],
    ['usage', says('off'), says('prepaid')],
  ])('are not ready together where %s bills otherwise, until it does not', async (name, keys, usage) => {
    const readiness = await started('off', keys, usage);
    const sentence = `BILLING is off here and prepaid in the ${name} service: set it alike`;
    expect([readiness.faults(), said]).toEqual([{ billing: sentence }, [sentence]]);
    answers = { '/auth/options': says('off'), '/internal/billing': says('off') };
    await eventually(() => Object.keys(readiness.faults()).length === 0);
    expect(said).toEqual([sentence]);
  });

  it('serve while one is away, and are compared once it answers', async () => {
    const readiness = await started('off', AWAY, says('off'));
    expect(readiness.faults()).toEqual({});
    answers = { ...answers, '/auth/options': says('prepaid') };
    await eventually(() => 'billing' in readiness.faults());
  });

  it('serve beside a release that does not say how it bills', async () => {
    expect((await started('off', { json: {} }, { status: 404, json: {} })).faults()).toEqual({});
    expect(service.seen).toHaveLength(2);
  });
});
