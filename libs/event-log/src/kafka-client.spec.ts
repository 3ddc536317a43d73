import { createServer, type AddressInfo } from 'node:net';
import { kafkaClient } from './kafka-client.js';

it('OPS connects to a broker whose address is an IPv6 literal', async () => {
  const callers: (string | undefined)[] = [];
  const server = createServer((socket) => {
    callers.push(socket.remoteAddress);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
  const { port } = server.address() as AddressInfo;
  const kafka = kafkaClient({ brokers: [`[::1]:${port}`], clientId: 'spec' });
  const admin = kafka.admin({ retry: { retries: 0 } });
  await Promise.allSettled([admin.connect(), admin.listTopics()]);
  expect(new Set(callers)).toEqual(new Set(['::1']));
  await admin.disconnect();
  server.close();
});
