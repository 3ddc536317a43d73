import type { OutgoingMail } from '@gateway/mail';

interface Envelope {
  id: string;
  type: string;
  created_at: string;
  org_id: string;
  data: Readonly<Record<string, unknown>>;
}

/** An event as a person reads it: its fields, as text and as a table. */
export function eventMail(body: string): Pick<OutgoingMail, 'subject' | 'text' | 'html'> {
  const { id, type, created_at, org_id, data } = JSON.parse(body) as Envelope;
  const rows: [string, string][] = [
    ...Object.entries(data).map(([name, value]): [string, string] => [name, shown(value)]),
    ['time', created_at],
    ['organization', org_id],
    ['event', id],
  ];
  const table = rows
    .map(([name, value]) => `<tr><th align="left">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
    .join('');
  return {
    subject: `[Model Gateway] ${type}`,
    text: `${type}\n\n${rows.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`,
    html: `<h1>${escaped(type)}</h1><table>${table}</table>`,
  };
}

/** Returns the value on one line: a label with line breaks would write lines of the mail itself. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

/** Labels are any text of somebody else. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
