import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { NewAccountEvent } from '@gateway/contracts';
import type { NotificationsApp, Person } from './notifications.fixture.js';
import type { Received } from './webhook-receiver.fixture.js';

export const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** An event of an organization that nothing stands behind. */
export function keyCreated(orgId: string): NewAccountEvent {
  const data = { key_id: 'key_1', label: 'mine', masked_key: 'rsk_ab12...wxyz' };
  return { type: 'api_key.created', account_id: 'acct_1', org_id: orgId, data };
}

/** It happens, and what is due is sent. */
export async function happen(app: NotificationsApp, orgId: string): Promise<void> {
  await app.account(app.event(keyCreated(orgId)));
  await app.deliver();
}

export function answering(
  status: number,
  headers: Record<string, string> = {},
): (response: ServerResponse) => void {
  return (response) => void response.writeHead(status, headers).end(`answer ${status}`);
}

/** The receiver fails the next requests. */
export function failNext(app: NotificationsApp, count: number, status = 500): void {
  app.receiver.answers.push(...Array.from({ length: count }, () => answering(status)));
}

/** The term that a secret makes of what was received. */
export function signedBy(secret: string, { headers, body }: Received): string {
  const text = `${String(headers['service-webhook-timestamp'])}.${body}`;
  return `v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

export async function deliveriesOf(
  app: NotificationsApp,
  person: Person,
  query = '',
): Promise<Record<string, unknown>[]> {
  const answer = await app.call('GET', `/alerts/deliveries${query}`, person);
  return (answer.body as { data: Record<string, unknown>[] }).data;
}
