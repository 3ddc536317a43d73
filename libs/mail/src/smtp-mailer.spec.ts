import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { SmtpMailer } from './smtp-mailer.js';

interface Taken {
  to: string;
  text: string;
}

const taken: Taken[] = [];
/** Refusals with which the next mails are answered. */
const refusals: number[] = [];
let server: SMTPServer;
let mailer: SmtpMailer;

beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => {
      const code = refusals.shift();
      done(code === undefined ? null : Object.assign(new Error('not now'), { responseCode: code }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join();
        taken.push({ to, text: Buffer.concat(chunks).toString('utf8') });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  mailer = new SmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: 'Gateway <noreply@gateway.example>' });
});
afterAll(async () => {
  mailer.close();
  await new Promise<void>((resolve) => server.close(resolve));
});

const mail = { to: 'a@example.com', subject: 'Grüße', text: 'plain', html: '<p>rich</p>' };
const signal = AbortSignal.timeout(10_000);

describe('SmtpMailer', () => {
  it('hands over a mail with both bodies and its own headers', async () => {
    await mailer.send({ ...mail, headers: { 'Service-Event-Id': 'evt_1' } }, signal);
    const [{ to, text }] = taken;
    expect(to).toBe('a@example.com');
    expect(text).toMatch(/^Service-Event-Id: evt_1/im);
    for (const part of ['multipart/alternative', 'plain', '<p>rich</p>']) expect(text).toContain(part);
    expect(text).toMatch(/^From: Gateway <noreply@gateway\.example>/m);
  });

  it.each([451, 550])('rejects with the answer %i of the server', async (code) => {
    refusals.push(code);
    await expect(mailer.send(mail, signal)).rejects.toMatchObject({ responseCode: code });
  });

  it('sends to one address, whatever stands in it', async () => {
    taken.length = 0;
    await mailer.send({ ...mail, to: 'b@example.com,c@example.com' }, signal).catch(() => undefined);
    expect(taken.every(({ to }) => !to.includes('c@example.com,') && to !== 'c@example.com')).toBe(true);
  });

  it('ends with its signal', async () => {
    await expect(mailer.send(mail, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
