import type { UnitContent } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';

const REQUEST = JSON.stringify({ model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] });
const RESPONSE = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] });

const clock = new SystemClock();
const now = (): string => new Date(clock.now()).toISOString();

/** A content of key_1, which usr_1 has made, of org_1. */
export function unitContent(more: Partial<UnitContent> = {}): UnitContent {
  const { request = REQUEST, response = RESPONSE } = more;
  return {
    request_id: 'req_1',
    unit: 0,
    account_id: 'acct_1',
    org_id: 'org_1',
    member_id: 'usr_1',
    key_id: 'key_1',
    end_user_hash: null,
    endpoint: '/v1/chat/completions',
    created_at: now(),
    retention_days: 30,
    redact: true,
    request,
    request_bytes: request?.length ?? 0,
    response,
    response_bytes: response?.length ?? 0,
    ...more,
  };
}
