import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedClock } from '@gateway/testing/plain';
import { FileMailer } from './file-mailer.js';

const folder = mkdtempSync(join(tmpdir(), 'mail-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;

it('writes a mail a file, for the owner of the folder alone', async () => {
  const place = join(folder, 'mail');
  const mailer = new FileMailer(place, fixedClock('2026-11-21T12:00:00.000Z'));
  const mail = { to: 'a@example.com', subject: 'Hello', text: 'one\nhttps://gateway.example/#token=x' };
  await mailer.send(mail, signal);
  await mailer.send({ ...mail, to: 'b@example.com\r\nBcc: c@example.com', subject: 'Grüße' }, signal);
  const names = readdirSync(place).sort();
  expect(names).toEqual([
    '2026-11-21T12-00-00-000Z-1-a@example.com.eml',
    expect.stringMatching(/^2026-11-21T12-00-00-000Z-2-b@example\.com/),
  ]);
  const [first, second] = names.map((name) => readFileSync(join(place, name), 'utf8'));
  expect(first).toBe(
    'Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nTo: a@example.com\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n' +
      'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n' +
      'one\r\nhttps://gateway.example/#token=x\r\n',
  );
  expect(second.split('\r\n').slice(1, 3)).toEqual([
    'To: b@example.com Bcc: c@example.com',
    'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
  ]);
  expect(statSync(join(place, names[0])).mode & 0o777).toBe(0o600);
  expect(statSync(place).mode & 0o777).toBe(0o700);
});
