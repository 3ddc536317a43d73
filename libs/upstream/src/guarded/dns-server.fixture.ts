import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';

/** Records of one name, of each question in turn; the last ones stay. */
type Answers = readonly Answer[] | 'servfail';

interface Answer {
  cname?: string;
  addresses?: readonly string[];
}

export interface DnsServer {
  /** Address for ALERTS_DNS_SERVERS. */
  place: string;
  names: Map<string, Answers>;
  close(): Promise<void>;
}

const [A, CNAME, AAAA] = [1, 5, 28];

/** A DNS server that answers what a test sets, by UDP; only specs start it. */
export async function startDnsServer(): Promise<DnsServer> {
  const names = new Map<string, Answers>();
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    const answers = names.get(name);
    const turn = asked.get(`${name}/${type}`) ?? 0;
    asked.set(`${name}/${type}`, turn + 1);
    const answer = typeof answers === 'object' ? answers[Math.min(turn, answers.length - 1)] : undefined;
    const records = recordsOf(name, type, answer);
    const code = answers === 'servfail' ? 2 : answers === undefined ? 3 : 0;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt16BE(0, 8);
    head.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  return {
    place: `127.0.0.1:${port}`,
    names,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at]; size !== 0; size = query[at]) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function recordsOf(name: string, type: number, answer: Answer | undefined): Buffer[] {
  const { cname, addresses = [] } = { ...answer };
  const alias = cname === undefined ? [] : [record(name, CNAME, encoded(cname))];
  const bytes = addresses
    .map((text) => Buffer.from(ipaddr.parse(text).toByteArray()))
    .filter(({ length }) => length === (type === A ? 4 : type === AAAA ? 16 : 0));
  return [...alias, ...bytes.map((address) => record(cname ?? name, type, address))];
}

function record(name: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), head, data]);
}

function encoded(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
