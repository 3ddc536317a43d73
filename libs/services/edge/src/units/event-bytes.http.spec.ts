import { randomUUID } from 'node:crypto';
import {
  EventLog,
  TOPIC,
  wholeUsage,
  type KeyPrincipal,
  type UsageRecord,
  type UsageRecordV2,
} from '@gateway/contracts';
import type { EventLogDouble } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

/** Bound of one event of a plain chat on gateway.usage.v2, envelope included; it only goes down. On v1 it has 2,344. */
const BYTES_MAX = 1_200;

const key = `key_${randomUUID()}`;
const [account, org, user] = ['acct', 'org', 'usr'].map((kind) => `${kind}_${randomUUID()}`);

/** A key of an organization whose limits have ids as long as they are in a fleet. */
const principal: KeyPrincipal = testPrincipal(key, { accountId: account, orgId: org, createdBy: user });
const [ofKey] = principal.limits;
const limited: KeyPrincipal = {
  ...principal,
  limits: [ofKey, { ...ofKey, kind: 'member', id: user }, { ...ofKey, kind: 'org', id: org }],
};

/** Returns the event of a plain chat, as it is on the topic of the version. */
async function eventOf(version: 1 | 2): Promise<string> {
  const edge: EdgeUnderTest = await startEdge({ config: { USAGE_TOPIC_VERSION: version } });
  try {
    const topic = version === 1 ? TOPIC.usage : TOPIC.usageV2;
    const answer = await edge.post(hello('simulator/chat'), { key: edge.addKey(limited) });
    await answer.text();
    await edge.record(answer, topic);
    const { appended } = edge.app.app.get<EventLogDouble>(EventLog, { strict: false });
    return appended.filter((event) => event.topic === topic)[0].record.value;
  } finally {
    await edge.close();
  }
}

/** Returns the bytes of each member, the largest first. */
function byMember(value: string): string[] {
  const { data, ...envelope } = JSON.parse(value) as { data: object };
  return Object.entries({ envelope, ...data })
    .map(([name, of]): [string, number] => [name, JSON.stringify({ [name]: of as unknown }).length - 1])
    .sort(([, a], [, b]) => b - a)
    .map(([name, bytes]) => `${name} ${bytes}`);
}

describe('the event of a plain chat', () => {
  it('has at most 1,200 bytes on gateway.usage.v2, and says there what it says on gateway.usage.v1', async () => {
    const [v1, v2] = [await eventOf(1), await eventOf(2)];
    expect(Buffer.byteLength(v2) <= BYTES_MAX || [Buffer.byteLength(v2), byMember(v2)]).toBe(true);
    const whole = wholeUsage((JSON.parse(v2) as { data: UsageRecordV2 }).data);
    const plain = (JSON.parse(v1) as { data: UsageRecord }).data;
    expect(Object.keys(whole).sort()).toEqual(Object.keys(plain).sort());
    // Of two requests these members differ; all others are the same.
    const { model, status, outcome, http_status, cost_usd, list_cost_usd, api_version, stream } = plain;
    expect(whole).toMatchObject({
      model,
      status,
      outcome,
      http_status,
      cost_usd,
      list_cost_usd,
      api_version,
      stream,
    });
    expect(whole.limits.map(({ scope, scope_id }) => [scope, scope_id])).toEqual([
      ['key', key],
      ['member', user],
      ['org', org],
    ]);
    expect(whole.attempts.map((attempt) => Object.keys(attempt).sort())).toEqual(
      plain.attempts.map((attempt) => Object.keys(attempt).sort()),
    );
    expect(Object.keys(whole.priced_from ?? {}).sort()).toEqual(Object.keys(plain.priced_from ?? {}).sort());
  });
});
