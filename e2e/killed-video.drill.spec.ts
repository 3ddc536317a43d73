import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@gateway/testing/plain';
import { startAllInOne } from './harness/all-in-one.js';
import type { Gateway } from './harness/gateway.js';
import { askOnce, type Body } from './harness/requests.js';

const PATH = '/v1/video/generations';
const VIDEO = { model: 'luma/ray-2', prompt: 'A fox', duration: 5 };
const SLOWLY = { timeoutMs: 120_000, intervalMs: 200 };

/** Provider that begins a video when it is asked, and never answers. */
class Provider {
  creates = 0;
  private readonly server: Server = createServer((request) => {
    request.resume();
    if (request.method === 'POST') this.creates += 1;
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('the all-in-one, killed between the create of a video and the note of it', () => {
  const provider = new Provider();
  const dataDir = mkdtempSync(join(tmpdir(), 'killed-video-'));
  let env: Record<string, string>;
  let gateway: Gateway;

  beforeAll(async () => {
    // Who comes after a killed worker waits until its lease is over.
    env = { LUMA_API_KEY: 'stand-in', LUMA_BASE_URL: await provider.start(), WORKERS_LEASE_MS: '1000' };
    gateway = await startAllInOne({ dataDir, env });
  });
  afterAll(async () => {
    await gateway.stop();
    provider.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('B2 begins no second video: it fails, its money is free, and nothing is charged', async () => {
    const { key } = gateway;
    const read = async (path: string): Promise<Body> => (await askOnce(gateway, 'GET', path, { key })).body;
    const before = await read('/v1/balance');
    const begun = askOnce(gateway, 'POST', PATH, { key, body: VIDEO }).catch(() => null);
    await eventually(() => provider.creates === 1, SLOWLY);
    process.kill(gateway.edgePid, 'SIGKILL');
    expect(await begun).toBeNull();
    gateway = await startAllInOne({ dataDir, env });
    const failed = await eventually(async () => {
      const [task] = (await read(PATH)).data as Body[];
      return task.status === 'failed' ? task : null;
    }, SLOWLY);
    expect(failed.error).toMatchObject({ code: 'upstream_error' });
    expect(provider.creates).toBe(1);
    const after = await eventually(async () => {
      const balance = await read('/v1/balance');
      return balance.reserved_usd === '0' ? balance : null;
    }, SLOWLY);
    expect(after.balance_usd).toBe(before.balance_usd);
  });
});
