import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { hello, keyScope, startEdge, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

describe('metrics of the edge', () => {
  let edge: EdgeUnderTest;
  beforeEach(async () => (edge = await startEdge()));
  const folders: string[] = [];
  afterEach(async () => {
    await edge.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  const scrape = async (): Promise<string> => (await fetch(`${edge.url}/metrics`)).text();
  /** The value of one series; NaN where there is none. */
  async function value(series: string): Promise<number> {
    const line = (await scrape()).split('\n').find((text) => text.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  it('count admissions, units, attempts, first tokens and fallbacks of what was served', async () => {
    const model = edge.serve(
      'metrics/fallback',
      { provider: 'simulated', upstreamModel: 'sim-error-503-slow' },
      { provider: 'simulated-messages', upstreamModel: 'sim-claude' },
    );
    const answer = await edge.post(hello(model, { stream: true }));
    expect(await answer.text()).toContain('[DONE]');

    expect(await value('gateway_admissions_total{outcome="missing",scope="",metric=""}')).toBe(1);
    expect(await value('gateway_admissions_total{outcome="ok",scope="",metric=""}')).toBe(1);
    const served = 'gateway_units_total{endpoint="/v1/chat/completions",outcome="served",code=""}';
    expect(await value(served)).toBe(1);
    const good =
      'gateway_attempts_total{provider="simulated-messages",outcome="success",code="",status="200"}';
    expect(await value(good)).toBe(1);
    expect(await scrape()).toMatch(
      /gateway_attempts_total\{provider="simulated",outcome="error",code="provider_overloaded",status="503"\} \d/,
    );
    expect(await value('gateway_fallbacks_total{provider="simulated-messages"}')).toBe(1);
    expect(await value('gateway_time_to_first_token_seconds_count{provider="simulated-messages"}')).toBe(1);
    const by = 'provider="simulated-messages",model="metrics/fallback"';
    const { usage, cost_usd } = await edge.record(answer);
    const { prompt_tokens, completion_tokens } = usage as Record<string, number>;
    expect(await value(`gateway_tokens_total{${by},type="input"}`)).toBe(prompt_tokens);
    expect(await value(`gateway_tokens_total{${by},type="output"}`)).toBe(completion_tokens);
    expect(await value('gateway_time_per_output_token_seconds_count{provider="simulated-messages"}')).toBe(1);
    expect(await value(`gateway_model_requests_total{${by},outcome="served"}`)).toBe(1);
    expect(await value(`gateway_cost_nano_usd_total{${by}}`)).toBeCloseTo(Number(cost_usd) * 1e9, 3);
    expect(await value('gateway_breaker_state{provider="simulated",model="sim-error-503-slow"}')).toBe(0);
    expect(await value('gateway_upstream_requests_in_flight')).toBe(0);
    expect(await value('gateway_journal_accepting')).toBe(1);
    expect(await value('gateway_journal_alarms_total{kind="sequence_gap"}')).toBe(0);
  });

  it('B09 count a range of a dead journal that cannot be read, and its unit that has no outcome', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'damaged-'));
    folders.push(folder);
    const [dead, left] = [join(folder, 'dead'), join(folder, 'left')];
    const died = await startEdge({ config: { JOURNAL_DIR: dead } });
    await died.record(await died.post(hello('simulator/chat')));
    // What a kill would leave: the folder as it stands, without the socket of its owner.
    cpSync(dead, left, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    await died.close();
    const [segment] = globSync(join(left, '**/*.log'));
    const bytes = readFileSync(segment);
    bytes[bytes.length - 5] ^= 1;
    writeFileSync(segment, bytes);
    await edge.close();
    edge = await startEdge({ config: { JOURNAL_DIR: left } });
    await eventually(async () => {
      expect(await value('gateway_journal_alarms_total{kind="bad_frame"}')).toBe(1);
      expect(await value('gateway_journal_alarms_total{kind="crashed_units"}')).toBe(1);
      return true;
    });
    const [record] = await eventually(() => (edge.shipped().length > 0 ? edge.shipped() : null));
    expect(record).toMatchObject({ error_code: 'gateway_crash', usage_estimated: true, cost_usd: null });
  });

  it('name the scope and metric of a rejection, and nothing that a caller wrote', async () => {
    const scope = keyScope('key_one_a_minute', { rpm: 1 });
    const key = edge.addKey(testPrincipal('key_one_a_minute', { limits: [scope] }));
    await edge.post(hello('simulator/chat'), { key });
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(429);
    expect((await edge.post(hello('a-caller/wrote-this'), { key })).status).toBe(404);

    expect(await value('gateway_admissions_total{outcome="refused",scope="key",metric="rpm"}')).toBe(1);
    const text = await scrape();
    expect(text).toMatch(
      /gateway_rejections_total\{endpoint="\/v1\/chat\/completions",code="\w+",scope="key",metric="rpm"\} 1/,
    );
    expect(text).toContain('code="model_not_found",scope="",metric=""} 1');
    expect(text).not.toMatch(/wrote-this|key_one|acct_|req_/);
  });

  it('show a breaker that opened, until its route is left alone no more', async () => {
    const model = edge.serve('metrics/broken', 'sim-error-503-slow');
    for (let asked = 0; asked < 30; asked += 1) await (await edge.post(hello(model))).text();
    expect(await value('gateway_breaker_state{provider="simulated",model="sim-error-503-slow"}')).toBe(2);
    expect(await value('gateway_breaker_changes_total{provider="simulated",state="open"}')).toBe(1);
  });

  it('keep the edge ready and alive while limit store, ledger and keys service are away', async () => {
    const away = (): Promise<never> => Promise.reject(new ApiError('service_unavailable', { status: 503 }));
    Object.assign(edge.limits, { admit: away, put: away, stamp: away, version: away });
    Object.assign(edge.funds, { seedSpendLimit: away, spent: away, watermark: away });
    expect((await edge.post(hello('simulator/chat'))).status).toBe(503);
    Object.assign(edge.principals, { remembered: () => null, resolve: away, reload: away });
    expect((await edge.post(hello('simulator/chat'))).status).toBe(503);

    for (const path of ['/readyz', '/healthz']) expect((await fetch(`${edge.url}${path}`)).status).toBe(200);
    expect(await value('gateway_admissions_total{outcome="error",scope="",metric=""}')).toBe(1);
    await eventually(async () => (await value('gateway_settle_failures_total')) > 0);
    expect(edge.upstream()).toHaveLength(0);
  });
});
