/** Members of a text request that are the gateway's business: no provider sees them, and no report names them as unread. */
export const GATEWAY_OWNED: readonly string[] = [
  'template',
  'variables',
  'template_version',
  'memory',
  'models',
  'provider',
];

/** True for a member that is the gateway's business. */
export function isGatewayOwned(name: string): boolean {
  return GATEWAY_OWNED.includes(name);
}
