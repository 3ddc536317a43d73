import { createHmac } from 'node:crypto';

/**
 * Service-Webhook-Signature: one `v1=` term per secret, hex HMAC-SHA256 over `<timestamp>.<body>`. The secret is used as the text that its owner was shown.
 */
export function signatureOf(secrets: readonly string[], timestamp: number, body: string): string {
  return secrets
    .map((secret) => `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`)
    .join(',');
}
