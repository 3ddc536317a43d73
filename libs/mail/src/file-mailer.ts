import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@gateway/contracts';
import { Mailer, type OutgoingMail } from './mailer.js';

const NAME_MAX = 120;

/** Writes each mail into a folder as `<time>-<address>.eml`, for one machine and for trying. */
export class FileMailer extends Mailer {
  private written = 0;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    super();
  }

  async send(mail: OutgoingMail, signal: AbortSignal): Promise<void> {
    const date = new Date(this.clock.now());
    // The number keeps two mails of one millisecond apart.
    this.written += 1;
    const time = date.toISOString().replaceAll(/[:.]/g, '-');
    const address = mail.to.replaceAll(/[^A-Za-z0-9@._+-]/g, '_').slice(0, NAME_MAX);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `${time}-${this.written}-${address}.eml`);
    // Who can read it can use the link in it.
    await writeFile(path, messageOf(mail, date), { mode: 0o600, flag: 'wx', signal });
  }
}

/** RFC 5322, in UTF-8 as it is. */
function messageOf({ to, subject, text, html, headers: more = {} }: OutgoingMail, date: Date): string {
  const headers = [
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `To: ${oneLine(to)}`,
    `Subject: ${encodedWord(oneLine(subject))}`,
    ...Object.entries(more).map(([name, value]) => `${name}: ${oneLine(value)}`),
    'MIME-Version: 1.0',
  ];
  const plain = partOf('plain', text);
  if (html === undefined) return `${headers.join('\r\n')}\r\n${plain}`;
  // What no text of ours holds.
  const boundary = `=_${date.getTime()}`;
  const parts = [plain, partOf('html', html)].map((part) => `--${boundary}\r\n${part}`).join('');
  const type = `Content-Type: multipart/alternative; boundary="${boundary}"`;
  return `${headers.join('\r\n')}\r\n${type}\r\n\r\n${parts}--${boundary}--\r\n`;
}

function partOf(type: 'plain' | 'html', text: string): string {
  const headers = [`Content-Type: text/${type}; charset=utf-8`, 'Content-Transfer-Encoding: 8bit'];
  return `${headers.join('\r\n')}\r\n\r\n${text.replaceAll(/\r?\n/g, '\r\n')}\r\n`;
}

/** A line break in a header would begin another one. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}

/** RFC 2047 where the text is more than ASCII. */
function encodedWord(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}
