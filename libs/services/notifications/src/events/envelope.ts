/** The envelope as it is sent and signed, to the byte. */
export function envelopeOf(
  id: string,
  { type, atMs, orgId, data }: { type: string; atMs: number; orgId: string; data: object },
): string {
  return JSON.stringify({ id, type, created_at: new Date(atMs).toISOString(), org_id: orgId, data });
}
