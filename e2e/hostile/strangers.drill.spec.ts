import { once } from 'node:events';
import type { Socket } from 'node:net';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { START_MS } from '../harness/modes.js';
import { askOnce } from '../harness/requests.js';
import { residentMiB } from '../harness/resident.js';
import { rawSocket } from './raw-socket.js';

const CHAT = '/v1/chat/completions';
const MIB = 1_048_576;
const CONNECTIONS = 25;
const SENT_MIB = 32;
/** A quarter of what is sent: kept bodies would pass it, what a collector leaves lying does not. */
const MOST_GROWTH_MIB = (CONNECTIONS * SENT_MIB) / 4;
const UNKNOWN = `Authorization: Bearer ${mintSecret('rsk_', new SystemRandom())}\r\n`;
const TEST_MS = 900_000;

describe('bodies without an end of callers whom nobody knows', () => {
  let gateway: Gateway;
  const sockets: Socket[] = [];
  /** Memory before any of them: what is retained of the first would hide the next. */
  let before: number;

  beforeAll(async () => {
    gateway = await startAllInOne();
    await untilServed();
    before = residentMiB(gateway.edgePid);
  }, START_MS);
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(async () => void (await gateway?.stop()), START_MS);

  const chat = async (): Promise<number> => {
    const body = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
    return (await askOnce(gateway, 'POST', CHAT, { body })).status;
  };

  /** A machine that does everything else at once may make the process late, which is 503 for as long. */
  const untilServed = (): Promise<boolean> => eventually(async () => (await chat()) === 200);

  /** Resolves when all of it was taken; the body and its connection stay open. */
  async function send(authorization: string): Promise<void> {
    const socket = await rawSocket(gateway.url);
    sockets.push(socket);
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${authorization}`;
    socket.resume().write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    const closed = once(socket, 'close');
    for (let sent = 0; sent < SENT_MIB && !socket.destroyed; sent += 1)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed]);
  }

  it.each([
    ['without a key', ''],
    ['with an unknown one', UNKNOWN],
  ])(
    'AUTH-14 a known key is 200 beside 25 chunked ones %s, of 800 MiB, which the edge does not keep',
    async (_name, authorization) => {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => send(authorization)));

      await untilServed();
      // A collector works where there is work: what it left lying in an idle process would lie there for good.
      await eventually(
        async () => (await chat()) === 200 && residentMiB(gateway.edgePid) - before < MOST_GROWTH_MIB,
      );
    },
    TEST_MS,
  );
});
