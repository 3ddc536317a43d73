import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, seededRandom } from '@gateway/testing/plain';
import { startAllInOne } from './harness/all-in-one.js';
import type { Gateway } from './harness/gateway.js';
import { askOnce, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const SEEDS = Number(process.env.DRILL_SEEDS ?? 5);
/** A start of everything and what comes after it, on a machine that runs all else at once. */
const SEED_MS = 240_000;
const FAR = { timeoutMs: 90_000, intervalMs: 300 };
const PEOPLE = 12;

/** Answers from before the kill, which have to be found after it. */
interface Answered {
  /** Ids of erasures, with the response of the person who was erased. */
  erasures: { id: string; response: string }[];
  /** Ids of keys. */
  keys: string[];
  /** Ids of videos' tasks that were reported completed. */
  videos: string[];
}

describe('the all-in-one, killed with kill -9 at any moment', () => {
  const told = new Set<string>();
  const dataDir = mkdtempSync(join(tmpdir(), 'kept-events-'));
  let receiver: Server;
  let gateway: Gateway;
  let person: PersonSession;
  let key: string;

  beforeAll(async () => {
    receiver = createServer((request, answer) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const { type, data } = JSON.parse(text) as { type: string; data: Record<string, string> };
        told.add(`${type}/${data.key_id ?? data.task_id}`);
        answer.end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', () => resolve()));
    await start();
    const channel = await made('/alerts/channels', {
      channel_type: 'webhook',
      destination: `${receiverUrl()}/hook`,
      is_enabled: true,
    });
    for (const alert_type of ['api_key.created', 'video.completed'])
      await made('/alerts/policies', { channel_id: channel.id, alert_type, is_enabled: true });
    ({ key } = await person.createKey('drill', { rpm: 1_000 }));
  }, SEED_MS);

  afterAll(async () => {
    await gateway.stop();
    receiver.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const receiverUrl = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  async function start(): Promise<void> {
    const env = { ALERTS_ALLOW_PRIVATE: new URL(receiverUrl()).host };
    gateway = await startAllInOne({ dataDir, env });
    person = await logIn(gateway);
  }

  async function made(path: string, body: object): Promise<Body> {
    const answer = await person.call('POST', path, body);
    const text = await answer.text();
    expect([path, answer.status < 300, text]).toEqual([path, true, text]);
    return JSON.parse(text) as Body;
  }

  const ask = (method: string, path: string, body?: object) => askOnce(gateway, method, path, { key, body });

  async function storeResponses(seed: number): Promise<{ name: string; id: string }[]> {
    const people = Array.from({ length: PEOPLE }, (_, n) => `person-${seed}-${n}`);
    return Promise.all(
      people.map(async (name) => {
        const body = { model: 'simulator/chat', input: `I am ${name}.`, safety_identifier: name };
        const { status, body: response } = await ask('POST', '/v1/responses', body);
        expect(status).toBe(200);
        return { name, id: String(response.id) };
      }),
    );
  }

  /** Everything at once, until the n-th answer, at which the process is killed. */
  async function untilKilled(killAt: number, people: { name: string; id: string }[]): Promise<Answered> {
    const answered: Answered = { erasures: [], keys: [], videos: [] };
    let count = 0;
    const noted = (note: () => void): void => {
      if (count >= killAt) return;
      note();
      count += 1;
      if (count === killAt) process.kill(gateway.edgePid, 'SIGKILL');
    };
    const erasing = async (mine: { name: string; id: string }[]): Promise<void> => {
      for (const { name, id } of mine) {
        const { status, body } = await ask('POST', '/v1/end-users/erasures', { end_user_id: name });
        if (status === 202) noted(() => answered.erasures.push({ id: String(body.id), response: id }));
      }
    };
    const making = async (): Promise<void> => {
      for (let n = 0; n < PEOPLE; n += 1) {
        const { id } = await person.createKey(`key ${n}`);
        noted(() => answered.keys.push(id));
      }
    };
    const filming = async (): Promise<void> => {
      const { body } = await ask('POST', '/v1/video/generations', {
        model: 'simulator/video',
        prompt: 'a fox',
      });
      const path = `/v1/video/generations/${String(body.id)}`;
      await eventually(async () => (await ask('GET', path)).body.status === 'completed', FAR);
      noted(() => answered.videos.push(String(body.id)));
    };
    const halves = [people.slice(0, PEOPLE / 2), people.slice(PEOPLE / 2)];
    const alive = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (count < killAt) return;
        clearInterval(look);
        resolve();
      }, 5);
    });
    const work = [...halves.map(erasing), making(), filming()];
    for (const one of work) one.catch(() => undefined); // It is killed on purpose.
    await Promise.race([alive, Promise.allSettled(work)]);
    if (count < killAt) process.kill(gateway.edgePid, 'SIGKILL');
    return answered;
  }

  async function expectKept(answered: Answered): Promise<void> {
    for (const { id, response } of answered.erasures) {
      const path = `/v1/end-users/erasures/${id}`;
      await eventually(async () => (await ask('GET', path)).body.status === 'completed', FAR);
      expect([response, (await ask('GET', `/v1/responses/${response}`)).status]).toEqual([response, 404]);
    }
    const events = [
      ...answered.keys.map((id) => `api_key.created/${id}`),
      ...answered.videos.map((id) => `video.completed/${id}`),
    ];
    await eventually(() => events.every((event) => told.has(event)), FAR).catch(() => undefined);
    expect(events.filter((event) => !told.has(event))).toEqual([]);
  }

  it.each(Array.from({ length: SEEDS }, (_, n) => n + 1))(
    'has done all that it answered before: erasures, keys and videos, seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const people = await storeResponses(seed);
      const killAt = 1 + Math.floor(random.fraction() * PEOPLE * 2);
      const answered = await untilKilled(killAt, people);
      await gateway.stop();
      await start();
      await expectKept(answered);
    },
    SEED_MS,
  );
});
